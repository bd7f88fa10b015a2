package run

import (
	"fmt"

	"attention/layers"
	"attention/layers/chapter"
)

// layer is a model of one attention layer.
type layer struct {
	*chapter.LanguageModel
	config chapter.LanguageModelConfig
}

func (m *layer) String() string {
	text := m.Title()
	if n := m.config.Attention.NumHeads; n > 0 {
		text += fmt.Sprintf(", %d heads", n)
	}
	text += fmt.Sprintf(", width %d", m.config.EmbedDim)
	if p := m.config.Attention.Dropout; p > 0 {
		text += fmt.Sprintf(", dropout %v", p)
	}
	return text
}

func (m *layer) Title() string   { return m.config.Attention.Layer }
func (m *layer) Context() int    { return m.config.ContextLength }
func (m *layer) Causal() bool    { return m.config.Attention.Causal() }
func (m *layer) Queries() string { return "W_query" }

// gpt is a GPT.
type gpt struct{ *layers.GPT }

func (m *gpt) String() string {
	c := m.Config()
	text := fmt.Sprintf("gpt, %d layers, %d heads", c.NumLayers, c.NumHeads)
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

func (m *gpt) Title() string   { return GPTModel }
func (m *gpt) Context() int    { return m.Config().ContextLength }
func (m *gpt) Causal() bool    { return true }
func (m *gpt) Queries() string { return "c_attn.weight" } // their first columns

// NewGPT returns a GPT as a Model.
func NewGPT(m *layers.GPT) Model { return &gpt{m} }
