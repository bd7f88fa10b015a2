package layers_test

import (
	"encoding/json"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// shownTo is a mask function that shows each head different keys, and hides all keys from some queries.
func shownTo(b, h, t, s int) bool { return (s+t*h+b)%3 > 0 && t != 3 }

// keptBy is a Keep input (2, H, 7, 7) with the values of a mask function.
func keptBy(t *testing.T, b *layers.Build, heads int) mask.Mask {
	keep := make([]float64, 2*heads*7*7)
	for i := range keep {
		if shownTo(i/49/heads, i/49%heads, i/7%7, i%7) {
			keep[i] = 1
		}
	}
	return mask.Keep{Keep: input(t, b, "keep", golden.Dense(tensor.Float64, keep, 2, heads, 7, 7))}
}

// A function in the config or in the call gives the results of the mask that it defines, in every layout.
func TestAttentionWithAFunc(t *testing.T) {
	f := mask.Func{Name: "mine", Visible: shownTo}
	x := golden.Numbers(tensor.Float64, 2, 7, 6)
	for _, layout := range []layers.Layout{layers.Book, layers.Torch, layers.GPT2, layers.Llama, layers.PerHead} {
		open := layers.AttentionConfig{EmbedDim: 6, NumHeads: 3, Layout: layout}
		p, l := newAttention(t, tensor.Float64, open)
		masked := must(layers.NewAttention(p.Scope("masked"), having(open, func(c *layers.AttentionConfig) { c.Mask = f })))
		require.NoError(t, masked.SetState(layout, must(l.State(layout))))
		keep := func(b *layers.Build) layers.AttentionInput {
			return layers.AttentionInput{Query: input(t, b, "x", x), Mask: keptBy(t, b, 3)}
		}
		own := func(b *layers.Build) layers.AttentionInput {
			return layers.AttentionInput{Query: input(t, b, "x", x), Mask: f}
		}
		want, weights := attended(t, p, l, keep)
		wantFused, wantComposed := queryGradients(t, p, l, keep)
		for _, c := range []struct {
			layer *layers.Attention
			call  func(b *layers.Build) layers.AttentionInput
		}{{l, own}, {masked, selfCall(t, x)}, {masked, own}} {
			got, gotWeights := attended(t, p, c.layer, c.call)
			require.InDeltaSlice(t, want, got, 1e-14, layout)
			require.InDeltaSlice(t, weights, gotWeights, 1e-14, layout)
			fused, composed := queryGradients(t, p, c.layer, c.call)
			require.InDeltaSlice(t, wantFused, fused, 1e-13, layout)
			require.InDeltaSlice(t, wantComposed, composed, 1e-13, layout)
		}
	}
}

// Weights belong to the output of the call with the same function, not to that of a call with another function of the
// same name.
func TestCallsWithOneFuncAreOne(t *testing.T) {
	p, l := newAttention(t, tensor.Float64, plainAttention)
	b := layers.NewBuild(p, layers.Eval)
	ahead := func(d int) mask.Func {
		return mask.Func{Name: "ahead", VisibleAt: func(t, s int) bool { return s <= t+d }}
	}
	in := layers.AttentionInput{Query: input(t, b, "x", golden.Numbers(tensor.Float64, 7, 5)), Mask: mask.Not(ahead(0))}
	other := in
	other.Mask = mask.Not(ahead(1))
	b.Of(l.Attend(b, in))
	weights := b.Of(l.Weights(b, in))
	require.Same(t, b.Of(b.Calls("*")[0].Weights()), weights)
	require.NotSame(t, b.Of(l.Weights(b, other)), weights)
	require.NoError(t, b.Err())
}

func TestFunctionsHaveNoJSON(t *testing.T) {
	for want, c := range map[string]layers.AttentionConfig{
		`got Func "mine", which has no JSON, want a mask that is no function`: {Mask: mask.Func{Name: "mine"}},
		`got ScoreFunc "turned", which has no JSON, want none`:                {Score: &graph.ScoreFunc{Name: "turned"}},
		`got ScoreGraph "mine", which has no JSON, want none`:                 {ScoreGraph: &layers.ScoreGraph{Name: "mine"}},
	} {
		_, err := json.Marshal(c)
		require.ErrorContains(t, err, want)
	}
}
