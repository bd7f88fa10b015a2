package settings

import (
	"cmp"
	"fmt"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/config"
	"attention/layers"
)

// Parts are parts of a GPT other than GPT-2's. With any of them, parameters have Llama's names and Llama's initial
// values, all with the same deviation.
type Parts struct {
	RoPE   bool              `json:"rope,omitempty"`           // rotary positions, and none that are learned
	Norm   layers.NormKind   `json:"norm,omitempty"`           // of the norms; empty means LayerNorm
	MLP    layers.Activation `json:"mlp,omitempty"`            // of the MLPs; empty means the GPT's activation
	QKNorm layers.NormKind   `json:"qk_norm,omitempty"`        // of each head's queries and keys; empty means none
	Window int               `json:"window,omitempty"`         // number of tokens that a token sees, including itself; 0 means all
	Form   string            `json:"attention_form,omitempty"` // one of attentionForms; empty means full attention
	// FullEvery makes every n-th layer of a model with a Form use full attention; 0 means none.
	FullEvery int `json:"full_attention_every,omitempty"`
}

// gptFields are the fields of a GPT and of its parts, which share an object in JSON.
type gptFields struct {
	layers.GPTConfig
	Parts
}

// of returns the config of a decoder with the sizes of a GPT and these parts.
func (p Parts) of(g layers.GPTConfig) layers.DecoderConfig {
	c := g.Decoder()
	if p == (Parts{}) {
		return c
	}
	b := &c.Blocks[0]
	a := &b.Attention
	c.Layout, a.Layout, a.OutStd, b.MLP.OutStd = layers.Llama, layers.Llama, 0, 0
	if p.RoPE {
		a.RoPE, c.LearnedPositions = &graph.RoPEConfig{}, false
	}
	if b.Norm.Kind = p.Norm; p.Norm == layers.RMSNorm {
		b.Norm.Bias = false
	}
	if p.MLP != "" {
		b.MLP.Activation = p.MLP
	}
	a.QKNorm = p.QKNorm
	if p.Window > 0 {
		a.Mask = mask.And(mask.Causal{}, mask.SlidingWindow{Left: p.Window - 1})
	}
	if form, ok := attentionForms[p.Form]; ok {
		c.Blocks, c.Pattern = form.blocks(*b, g, p.FullEvery)
	}
	return c
}

// validate returns an error for the first wrong field of the parts of a GPT whose own fields are right.
func (f gptFields) validate() error {
	if f.Parts == (Parts{}) {
		return nil
	}
	if err := cmp.Or(config.AtLeast(f, 0, "Window", "FullEvery"), config.AtMost(f, 1<<16, "FullEvery")); err != nil {
		return err
	}
	if err := f.validateForm(); err != nil {
		return err
	}
	const block = "Blocks[0]."
	return config.From(f, f.Parts.of(f.GPTConfig).Validate(), map[string]string{
		"Initializer": "Initializer", block + "Norm.Kind": "Norm", block + "MLP.Activation": "MLP",
		block + "MLP.DimFeedforward": "DimFeedforward", block + "Attention.QKNorm": "QKNorm",
		block + "Attention.RoPE.Dims": "RoPE", block + "Attention.NumKVHeads": "NumKVHeads",
		block + "Attention.Latent": "Form",
	})
}

// words returns the parts in words.
func (p Parts) words() (text string) {
	for _, part := range []struct {
		has  bool
		text string
	}{
		{p.RoPE, "rotary positions"}, {p.Norm != "", string(p.Norm) + " norms"}, {p.MLP != "", string(p.MLP)},
		{p.QKNorm != "", string(p.QKNorm) + " norms of queries and keys"},
		{p.Window > 0, fmt.Sprintf("window %d", p.Window)}, {p.Form != "", p.formWords()},
	} {
		if part.has {
			text += ", " + part.text
		}
	}
	return text
}
