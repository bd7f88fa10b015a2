package layers_test

import (
	"encoding/json"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// shownTo shows each head other keys, and hides all from some queries.
func shownTo(b, h, t, s int) bool { return (s+t*h+b)%3 > 0 && t != 3 }

// keptBy is an input (2, H, 7, 7) of what a function of batch, head, query and key shows.
func keptBy(t *testing.T, b *layers.Build, heads int) mask.Mask {
	keep := make([]float64, 2*heads*7*7)
	for i := range keep {
		if shownTo(i/49/heads, i/49%heads, i/7%7, i%7) {
			keep[i] = 1
		}
	}
	return mask.Keep{Keep: input(t, b, "keep", golden.Dense(tensor.Float64, keep, 2, heads, 7, 7))}
}

// A function in the config or in the call is the mask that it defines, in every layout.
func TestAttentionWithAFunc(t *testing.T) {
	f := mask.Func{Name: "mine", Visible: shownTo}
	x := golden.Numbers(tensor.Float64, 2, 7, 6)
	for _, layout := range []layers.Layout{layers.Book, layers.Torch, layers.GPT2, layers.Llama} {
		open := layers.AttentionConfig{EmbedDim: 6, NumHeads: 3, Layout: layout}
		p, l := newAttention(t, tensor.Float64, open)
		masked := must(layers.NewAttention(p.Scope("masked"), but(open, func(c *layers.AttentionConfig) { c.Mask = f })))
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

// A function is asked about each head by its number in the layout PerHead, too.
func TestPerHeadKeepsTheNumbersOfHeadsInAFunc(t *testing.T) {
	p, l := newAttention(t, tensor.Float64, layers.AttentionConfig{EmbedDim: 6, NumHeads: 3, Layout: layers.PerHead,
		ContextOnly: true, Mask: mask.Not(mask.Func{Visible: func(b, h, t, s int) bool { return !shownTo(b, h, t, s) }})})
	_, weights := attended(t, p, l, selfCall(t, golden.Numbers(tensor.Float64, 2, 7, 6)))
	for i, w := range weights {
		require.Equal(t, shownTo(i/49/3, i/49%3, i/7%7, i%7), w > 0, "weight %d is %v", i, w)
	}
	b := layers.NewBuild(p, layers.Eval)
	b.Of(l.Forward(b, input(t, b, "x", golden.Numbers(tensor.Float64, 7, 6))))
	o := must(b.Calls("*")[0].Operands())
	out, _, err := graph.Attention(o.Query, o.Key, o.Value, o.Config)
	require.NoError(t, err)
	got := values(t, out, b.Of(l.Forward(b, b.Calls("*")[0].Input.Query)))
	require.InDeltaSlice(t, got[1], got[0], 1e-14)
}

// Weights belong to the output of the call with the same function, not to one with another of its name.
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

func TestAFuncHasNoJSON(t *testing.T) {
	c := but(plainAttention, func(c *layers.AttentionConfig) { c.Mask = mask.Func{Name: "mine", Visible: shownTo} })
	require.NoError(t, c.Validate())
	_, err := json.Marshal(c)
	require.ErrorContains(t, err, `got Func "mine", which has no JSON, want a mask that is no function`)
	c.Mask = mask.Func{Name: "mine"}
	require.ErrorContains(t, c.Validate(), `Mask: got Func "mine" without a function, want Visible or VisibleAt`)
}

// A query's own key is the one that earlier keys move it to.
func TestOwnKeyAfterEarlierKeys(t *testing.T) {
	for _, c := range []struct {
		name string
		mask mask.Causal
		S    int
		own  int // of the first query
	}{
		{name: "three earlier keys", mask: mask.Causal{Offset: 3}, S: 7, own: 3},
		{name: "upper left", mask: mask.Causal{Align: mask.UpperLeft, Offset: 2}, S: 7, own: 2},
		{name: "lower right, one key ahead", mask: mask.Causal{Align: mask.LowerRight, Offset: 1}, S: 7, own: 3},
		{name: "of itself, one key ahead", mask: mask.Causal{Offset: 1}, S: 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, l := newAttention(t, tensor.Float64, but(plainAttention, func(l *layers.AttentionConfig) { l.Mask = c.mask }))
			b := layers.NewBuild(p, layers.Eval)
			call := crossCall(t, golden.Numbers(tensor.Float64, 4, 5), golden.Numbers(tensor.Float64, c.S, 5))(b)
			_, weights, err := attendObserved(b, l, call)
			require.NoError(t, err)
			got := values(t, G.Nodes{weights, must(b.Calls("*")[0].Stats()).Own}...)
			for i, own := range got[1] {
				require.InDelta(t, got[0][i*c.S+i%4+c.own], own, 1e-14, "row %d", i)
			}
		})
	}
}
