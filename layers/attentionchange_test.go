package layers_test

import (
	"fmt"
	"testing"

	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// A mask of the build has the effect of an additional mask of the call.
func TestBuildMask(t *testing.T) {
	causal := having(plainAttention, func(c *layers.AttentionConfig) { c.Mask = mask.Causal{} })
	p, l := newAttention(t, tensor.Float64, causal)
	run := func(patterns ...string) [][]float64 {
		b := layers.NewBuild(p, layers.Eval)
		b.Mask(mask.SlidingWindow{Left: 2}, patterns...)
		in := layers.AttentionInput{Query: input(t, b, "x", golden.Numbers(tensor.Float64, 7, 5)), Mask: mask.Prefix{N: 5}}
		out, weights := b.Of(l.Attend(b, in)), b.Of(l.Weights(b, in))
		require.NoError(t, b.Err())
		return values(t, out, weights)
	}
	b := layers.NewBuild(p, layers.Eval)
	in := layers.AttentionInput{Query: input(t, b, "x", golden.Numbers(tensor.Float64, 7, 5)),
		Mask: mask.And(mask.SlidingWindow{Left: 2}, mask.Prefix{N: 5})}
	want := values(t, b.Of(l.Attend(b, in)), b.Of(l.Weights(b, in)))
	require.Equal(t, want, run("*"))
	require.Equal(t, run(), run("other", "h.*"))
	require.NotEqual(t, want, run())
}

// The factor of a head has the effect of scaling the head's columns of the output projection.
func TestScaleHeads(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		p, l := newAttention(t, dt, plainAttention)
		run := func(factors []float64) []float64 {
			b := layers.NewBuild(p, layers.Eval)
			b.ScaleHeads(factors, "*")
			out := b.Of(l.Forward(b, input(t, b, "x", golden.Numbers(dt, 2, 7, 5))))
			require.NoError(t, b.Err())
			return values(t, out)[0]
		}
		plain := run(nil)
		require.Equal(t, plain, run([]float64{1, 1, 1}))
		got := run([]float64{0.5, 2, 0})
		state := must(l.State(layers.Book))
		weight := state["out_proj.weight"] // (5, 12)
		for i := range weight.Size() {
			v := weight.Get(i)
			factor := []float64{0.5, 2, 0}[i%12/4]
			if dt == tensor.Float32 {
				weight.Set(i, v.(float32)*float32(factor))
			} else {
				weight.Set(i, v.(float64)*factor)
			}
		}
		require.NoError(t, l.SetState(layers.Book, state))
		require.InDeltaSlice(t, run(nil), got, 1e-6)
		require.NotEqual(t, plain, got)
	}
}

// Factors of many heads that differ only in the middle, where the printed form is truncated, stay distinct.
func TestScaleHeadsOfLayersApart(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	m := must(layers.NewGPT(p.Scope(""), layers.GPTConfig{VocabSize: 5, ContextLength: 7, EmbedDim: 24, NumLayers: 2,
		NumHeads: 12}))
	run := func(off ...int) []float64 { // a head of each layer
		b := layers.NewBuild(p, layers.Eval)
		for layer, head := range off {
			factors := []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
			factors[head] = 0
			b.ScaleHeads(factors, fmt.Sprintf("transformer.h.%d.attn", layer))
		}
		logits := b.Of(m.Forward(b, input(t, b, "ids", intVector(3, 1, 4, 1, 0))))
		require.NoError(t, b.Err())
		return values(t, logits)[0]
	}
	require.NotEqual(t, run(5, 5), run(5, 6))
	require.NotEqual(t, run(6, 6), run(5, 6))
}

func TestWrongChangesAreRefused(t *testing.T) {
	p, l := newAttention(t, tensor.Float64, plainAttention)
	b := layers.NewBuild(p, layers.Eval)
	b.ScaleHeads([]float64{1}, "*")
	b.Of(l.Forward(b, b.Input("x", 7, 5)))
	require.ErrorContains(t, b.Err(), "heads: got 1 factors, want one for each of the 3 heads")
	b = layers.NewBuild(p, layers.Eval)
	b.Mask(mask.Causal{}, "h.[")
	require.EqualError(t, b.Err(), `layers: build: change: got "h.[", want a pattern of path.Match`)
}
