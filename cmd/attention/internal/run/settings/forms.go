package settings

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	"attention/graph"
	"attention/internal/config"
	"attention/layers"
)

// attentionForm makes the attention of layer i in one of the forms, from the full attention of a GPT.
type attentionForm func(b *layers.BlockConfig, g layers.GPTConfig, i int)

// attentionForms are the forms of attention by their names in --attention: those of this list and of linear attention.
var attentionForms = withLinear(map[string]attentionForm{
	"differential": func(b *layers.BlockConfig, _ layers.GPTConfig, _ int) {
		b.Attention.Differential = &layers.DifferentialConfig{}
	},
	"moba": func(b *layers.BlockConfig, g layers.GPTConfig, _ int) { // a quarter of the context
		b.Attention.Sparse = &graph.BlockSparse{BlockSize: max(1, g.ContextLength/16), Blocks: 4}
	},
	"forgetting": func(b *layers.BlockConfig, _ layers.GPTConfig, _ int) { b.Attention.Forget = true },
	"sigmoid": func(b *layers.BlockConfig, g layers.GPTConfig, _ int) {
		b.Attention.Sigmoid, b.Attention.SigmoidBias = true, -math.Log(float64(max(g.ContextLength, 1)))
	},
	"latent": func(b *layers.BlockConfig, _ layers.GPTConfig, _ int) {
		b.Attention.Latent, b.Attention.QKVBias = &layers.LatentConfig{}, false
	},
})

// withLinear adds the forms of linear attention.
func withLinear(all map[string]attentionForm) map[string]attentionForm {
	for _, name := range layers.LinearForms() {
		all[name] = func(b *layers.BlockConfig, _ layers.GPTConfig, _ int) {
			form, _ := layers.LinearAttentionOf(name) // which knows it
			b.Linear = &form
		}
	}
	return all
}

// Forms returns the names of the forms.
func Forms() []string { return slices.Sorted(maps.Keys(attentionForms)) }

// blocks returns the kinds of blocks and their pattern for a GPT whose layers have the form; with fullEvery > 0, every
// such layer is the block full instead.
func (form attentionForm) blocks(full layers.BlockConfig, g layers.GPTConfig, fullEvery int) (
	kinds []layers.BlockConfig, pattern []int,
) {
	for i := range max(1, g.NumLayers) {
		kind := full
		form(&kind, g, i)
		if n := len(kinds); n == 0 || !reflect.DeepEqual(kind, kinds[n-1]) {
			kinds = append(kinds, kind)
		}
		pattern = append(pattern, len(kinds)-1)
	}
	switch {
	case len(kinds) == 1 && fullEvery == 0:
		return kinds, nil
	case fullEvery == 0:
		return kinds, pattern
	case len(kinds) == 1:
		pattern = make([]int, fullEvery) // which repeats
	}
	for i := fullEvery - 1; i < len(pattern); i += fullEvery {
		pattern[i] = len(kinds)
	}
	return append(kinds, full), pattern
}

// formWords returns where the form is, in words.
func (p Parts) formWords() string {
	text := "attention by " + p.Form
	if p.FullEvery > 0 {
		text += fmt.Sprintf(" but in one of %d layers", p.FullEvery)
	}
	return text
}

// validateForm returns an error for an unknown form of attention, or one with a part missing.
func (f gptFields) validateForm() error {
	switch {
	case f.Form == "" && f.FullEvery > 0:
		return config.Errorf(f, "FullEvery", "got %d without %s, want both", f.FullEvery, config.Field("Form"))
	case f.Form == "":
		return nil
	case f.FullEvery == 1:
		return config.Errorf(f, "FullEvery", "got 1, want 0 or at least 2: no layer would have %s", f.Form)
	}
	return config.OneOf(f, "Form", f.Form, Forms()...)
}
