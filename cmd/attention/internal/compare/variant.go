package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"attention/cmd/attention/internal/run/settings"
	"attention/layers"
)

// variant is an attention that a model may have.
type variant struct {
	name, text string
	set        func(m *settings.ModelConfig, window int) // in a model with full attention
}

// variants returns all attentions: full, grouped heads, a window, and the forms of attention train.
func variants() []variant {
	all := []variant{
		{full, "every token sees all before it", func(*settings.ModelConfig, int) {}},
		{"grouped", "two heads share keys and values", func(m *settings.ModelConfig, _ int) { m.GPT.NumKVHeads = m.GPT.NumHeads / 2 }},
		{"window", "a token sees a quarter of the sequence", func(m *settings.ModelConfig, n int) { m.Parts.Window = n }},
	}
	for _, form := range settings.Forms() {
		all = append(all, variant{form, "", func(m *settings.ModelConfig, _ int) { m.Parts.Form = form }})
	}
	return all
}

// full is the attention whose model's size all others have.
const full = "full"

// choose returns the variants with these names in their order; without names, all.
func choose(names []string) (chosen []variant, err error) {
	all := variants()
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, v := range all {
		known = append(known, v.name)
	}
	for _, name := range names {
		at := slices.Index(known, name)
		if at < 0 {
			return nil, fmt.Errorf("--attention: got %q, want one of %s", name, strings.Join(known, ", "))
		}
		if !slices.ContainsFunc(chosen, func(v variant) bool { return v.name == name }) {
			chosen = append(chosen, all[at])
		}
	}
	return chosen, nil
}

// closeness is the fraction by which the number of a model's parameters may differ from that with full attention.
const closeness = 0.03

// sized returns the config of a variant's model, with an MLP width that gives it as many parameters as the model with
// full attention.
func (g goal) sized(v variant) (c layers.DecoderConfig, err error) {
	width := g.model.DimFeedforward
	want, err := g.count(variants()[0], width)
	if err != nil {
		return c, err
	}
	with, err := g.count(v, width)
	if err != nil {
		return c, err
	}
	wider, err := g.count(v, width+1)
	if err != nil {
		return c, err
	}
	width = max(1, width+int(math.Round(float64(want-with)/float64(wider-with))))
	got, err := g.count(v, width)
	if err == nil && math.Abs(float64(got-want)) > closeness*float64(want) {
		err = fmt.Errorf("got %d parameters, want %d up to %.0f %%, as with full attention", got, want, 100*closeness)
	}
	return g.config(v, width), err
}

// count returns the number of parameters of a variant's model with MLPs of a width.
func (g goal) count(v variant, width int) (int, error) {
	p, err := layers.Declare(layers.NewDecoder, g.config(v, width))
	if err != nil {
		return 0, err
	}
	return p.Count(), nil
}

// config returns the config of a variant's model with MLPs of a width.
func (g goal) config(v variant, width int) layers.DecoderConfig {
	gpt := g.model
	gpt.DimFeedforward = width
	m := settings.ModelConfig{GPT: &gpt, Parts: settings.Parts{RoPE: true, Norm: layers.RMSNorm, MLP: layers.SwiGLU}}
	v.set(&m, g.model.ContextLength/4)
	c, _ := m.Blocks() // a GPT has them
	for _, b := range c.Blocks {
		if b.Attention.Latent != nil { // its own default width is for larger heads
			b.Attention.Latent.KVLoraRank = gpt.EmbedDim / 2
		}
	}
	return c
}
