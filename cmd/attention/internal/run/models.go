package run

import (
	"fmt"

	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// Model is a model that attention train can train.
type Model struct {
	ModelConfig
	Network
}

// Network scores the next token at every position of a window. T is the context, V the vocabulary.
type Network interface {
	Params() *layers.Params
	// Forward maps ids, int (…, T), to logits (…, T, V).
	Forward(b *layers.Build, ids *G.Node) (*G.Node, error)
	// Loss returns the mean cross entropy of the logits for ids against targets.
	Loss(b *layers.Build, ids, targets *G.Node) (*G.Node, error)
}

// AttentionNetwork is a network that returns its attention weights.
type AttentionNetwork interface {
	Network
	// Weights returns the attention weights (…, H, T, T) for ids.
	Weights(b *layers.Build, ids *G.Node) (*G.Node, error)
}

// NewGPT returns a GPT as a Model.
func NewGPT(m *layers.Decoder) Model {
	c, _ := m.Config().GPT()
	return Model{ModelConfig{GPT: &c}, m}
}

// Count returns a number of things, each of which a word names.
func Count(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}

// Title returns the name of the model, for a picture.
func (c ModelConfig) Title() string {
	if c.GPT != nil {
		return GPTModel
	}
	return c.Layer.Attention.Layer
}

// String returns the name and the sizes of the model, for a report.
func (c ModelConfig) String() string {
	if c.GPT != nil {
		return gptString(*c.GPT)
	}
	text, a := c.Title(), c.Layer.Attention
	if a.NumHeads > 0 {
		text += ", " + Count(a.NumHeads, "head")
	}
	text += fmt.Sprintf(", width %d", c.Layer.EmbedDim)
	if a.Dropout > 0 {
		text += fmt.Sprintf(", dropout %v", a.Dropout)
	}
	return text
}

func gptString(c layers.GPTConfig) string {
	text := "gpt, " + Count(c.NumLayers, "layer") + ", " + Count(c.NumHeads, "head")
	if c.NumKVHeads > 0 && c.NumKVHeads < c.NumHeads {
		text += fmt.Sprintf(" (%d of keys and values)", c.NumKVHeads)
	}
	text += fmt.Sprintf(", width %d", c.EmbedDim)
	for _, d := range []struct {
		of string
		p  float64
	}{{"embeddings", c.EmbeddingDropout}, {"attention", c.AttentionDropout}, {"residuals", c.ResidualDropout}} {
		if d.p > 0 {
			text += fmt.Sprintf(", dropout of %s %v", d.of, d.p)
		}
	}
	return text
}

// Queries returns a part of the names of the parameters that make queries.
func (c ModelConfig) Queries() string {
	if c.GPT != nil {
		return "c_attn.weight" // its first columns
	}
	return "W_query"
}

// Context returns the number of tokens of a window, T.
func (c ModelConfig) Context() int {
	if c.GPT != nil {
		return c.GPT.ContextLength
	}
	return c.Layer.ContextLength
}

// Causal reports whether the model learns from every position of a window, not only from the last.
func (c ModelConfig) Causal() bool { return c.GPT != nil || c.Layer.Attention.Causal() }
