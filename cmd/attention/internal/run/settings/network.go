package settings

import (
	"cmp"
	"errors"
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

// NewDecoder returns a decoder as a Model.
func NewDecoder(m *layers.Decoder) Model { return Model{ModelOf(m.Config()), m} }

// Count returns a number with the word for its things, such as "3 heads".
func Count(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}

// Title returns the name of the model, for a picture.
func (c ModelConfig) Title() string {
	if c.Layer == nil {
		return c.Type()
	}
	return c.Layer.Attention.Layer
}

// String returns the name and the sizes of the model, for a report.
func (c ModelConfig) String() string {
	if c.GPT != nil {
		return gptString(*c.GPT, c.Parts)
	}
	if c.Decoder != nil {
		return decoderString(*c.Decoder)
	}
	if c.Dates != nil {
		return c.Type() + ", " + c.Dates.String()
	}
	if e := c.Encoder; e != nil {
		a := e.Block.Attention
		return fmt.Sprintf("encoder, %s, %s, width %d", Count(e.NumLayers, "layer"), Count(a.NumHeads, "head"), a.EmbedDim)
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

func gptString(c layers.GPTConfig, p Parts) string {
	text := "gpt, " + Count(c.NumLayers, "layer") + ", " + Count(c.NumHeads, "head")
	if c.NumKVHeads > 0 && c.NumKVHeads < c.NumHeads {
		text += fmt.Sprintf(" (%d of keys and values)", c.NumKVHeads)
	}
	text += fmt.Sprintf(", width %d", c.EmbedDim) + p.words()
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

func decoderString(c layers.DecoderConfig) string {
	least, most := c.Blocks[0].Attention.NumHeads, 0
	for _, b := range c.Blocks {
		least, most = min(least, b.Attention.NumHeads), max(most, b.Attention.NumHeads)
	}
	heads := Count(most, "head")
	if least < most {
		heads = fmt.Sprintf("%d to ", least) + heads
	}
	text := "decoder, " + Count(c.NumLayers, "layer")
	if len(c.Blocks) > 1 {
		text += fmt.Sprintf(" of %d kinds", len(c.Blocks))
	}
	return text + fmt.Sprintf(", %s, width %d", heads, c.Blocks[0].Attention.EmbedDim)
}

// Queries returns a part of the names of the parameters that make queries, and which of their columns do; 0 means all.
func (c ModelConfig) Queries() (name string, columns int) {
	d, ok := c.Blocks()
	switch {
	case c.Encoder != nil:
		return "query.weight", 0
	case !ok:
		return "W_query", 0
	case d.Layout == layers.GPT2:
		a := d.Blocks[0].Attention
		return "c_attn.weight", a.NumHeads * cmp.Or(a.HeadDim, a.EmbedDim/a.NumHeads) // keys and values follow
	}
	for _, b := range d.Blocks {
		if b.Attention.Latent != nil && b.Attention.Latent.QLoraRank > 0 {
			return "q_b_proj.weight", 0
		}
	}
	return "q_proj.weight", 0
}

// Heads returns the number of heads in all blocks of a model, or of its one layer, that have weights.
func (c ModelConfig) Heads() (n int) {
	d, ok := c.Blocks()
	if e := c.Encoder; e != nil {
		return e.NumLayers * e.Block.Attention.NumHeads
	}
	if !ok {
		return max(c.Layer.Attention.NumHeads, 1)
	}
	for i := range d.NumLayers {
		if b := d.Block(i); b.Linear == nil {
			n += b.Attention.NumHeads
		}
	}
	return n
}

// Context returns the number of tokens of a window, T.
func (c ModelConfig) Context() int {
	if d, ok := c.Blocks(); ok {
		return d.ContextLength
	}
	if c.Encoder != nil {
		return c.Encoder.ContextLength
	}
	return c.Layer.ContextLength
}

// Width returns the width of the model's embeddings, E.
func (c ModelConfig) Width() int {
	if d, ok := c.Blocks(); ok {
		return d.Blocks[0].Attention.EmbedDim
	}
	if c.Encoder != nil {
		return c.Encoder.Block.Attention.EmbedDim
	}
	return c.Layer.EmbedDim
}

// Causal reports whether the model learns from every position of a window, not only from the last.
func (c ModelConfig) Causal() bool { return c.Layer == nil || c.Layer.Attention.Causal() }

// AttentionWeights returns the attention weights ([H,] T, T) of the model over ids, int (T), by the paths of its
// layers. It begins the build.
func (m Model) AttentionWeights(b *layers.Build, ids *G.Node) (map[string]*G.Node, error) {
	b.Of(m.Forward(b, ids))
	nodes := map[string]*G.Node{}
	for _, call := range b.Calls("*") {
		nodes[call.Path] = b.Of(call.Weights())
	}
	for _, call := range b.LinearCalls("*") { // what their states imply
		nodes[call.Path] = b.Of(call.Weights())
	}
	if w, ok := m.Network.(AttentionNetwork); ok && len(nodes) == 0 {
		nodes["attention"] = b.Of(w.Weights(b, ids)) // of a layer without an Attention, as the simple one
	}
	if err := b.Err(); err != nil {
		return nil, err
	}
	if len(nodes) == 0 {
		return nil, errors.New("got a model without attention, want one with")
	}
	return nodes, nil
}
