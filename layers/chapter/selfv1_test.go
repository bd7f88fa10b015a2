package chapter_test

import (
	"testing"

	"attention/layers"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// whole is an Attention of a sequence to itself.
type whole struct{ *layers.Attention }

func (l whole) Weights(b *layers.Build, x *G.Node) (*G.Node, error) {
	return l.Attention.Weights(b, layers.AttentionInput{Query: x})
}

func bothVersions(t *testing.T, p *layers.Params, in, out int, bias bool) (*chapter.SelfAttentionV1, *layers.Attention) {
	t.Helper()
	v1, err := chapter.NewSelfAttentionV1(p.Scope("v1"), chapter.SelfAttentionV1Config{EmbedDim: in, OutDim: out})
	require.NoError(t, err)
	c := chapter.SelfV2(in, out)
	c.QKVBias = bias
	v2, err := layers.NewAttention(p.Scope("v2"), c)
	require.NoError(t, err)
	return v1, v2
}

// The chapter's exercise 3.1, both ways: with the other's weights, transposed, a
// layer computes the other's output.
func TestWeightsGoFromOneVersionToTheOther(t *testing.T) {
	for _, size := range [][2]int{{3, 2}, {3, 7}, {1, 1}, {1, 3}, {3, 1}, {5, 5}} {
		for _, bias := range []bool{false, true} {
			p := layers.NewParams(tensor.Float64, 1)
			v1, v2 := bothVersions(t, p, size[0], size[1], bias)
			x := numbers(tensor.Float64, 6, size[0])
			want, _ := apply(t, p, v1, x)
			before, _ := apply(t, p, whole{v2}, x)
			require.NotEqual(t, want, before)
			require.NoError(t, chapter.SetV2(v2, v1))
			got, _ := apply(t, p, whole{v2}, x)
			require.InDeltaSlice(t, want, got, 1e-15, "v1 to v2, %v", size)
			again, _ := apply(t, p, v1, x)
			require.Equal(t, want, again, "v1 is as it was")
		}
		p := layers.NewParams(tensor.Float64, 2)
		v1, v2 := bothVersions(t, p, size[0], size[1], false)
		x := numbers(tensor.Float64, 6, size[0])
		want, _ := apply(t, p, whole{v2}, x)
		require.NoError(t, chapter.SetV1(v1, v2))
		got, _ := apply(t, p, v1, x)
		require.InDeltaSlice(t, want, got, 1e-15, "v2 to v1, %v", size)
	}
}

// The weights are copies: what happens to the one layer later is not seen in the
// other. They may come from another set of parameters.
func TestTransferredWeightsAreCopies(t *testing.T) {
	p, q := layers.NewParams(tensor.Float64, 1), layers.NewParams(tensor.Float64, 2)
	v1, _ := bothVersions(t, p, 3, 2, false)
	_, v2 := bothVersions(t, q, 3, 2, false)
	require.NoError(t, chapter.SetV1(v1, v2))
	x := numbers(tensor.Float64, 4, 3)
	want, _ := apply(t, p, v1, x)
	for _, v := range q.All() {
		v.Zero()
	}
	got, _ := apply(t, p, v1, x)
	require.Equal(t, want, got)
}

func TestWrongTransfersAreRefusedWhole(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	v1, v2 := bothVersions(t, p, 3, 2, true)
	require.EqualError(t, chapter.SetV1(v1, v2), "chapter: v1: SelfAttentionV1: weights: got a SelfV2 with biases, want one without")
	narrow, _ := bothVersions(t, layers.NewParams(tensor.Float64, 2), 2, 2, false)
	single, _ := bothVersions(t, layers.NewParams(tensor.Float32, 2), 3, 2, false)
	var before [][]float64
	for _, v := range p.All() {
		before = append(before, floats(v))
	}
	require.EqualError(t, chapter.SetV2(v2, narrow), `layers: v2: Attention: state of layout "book": W_key.weight is float64 (2, 2), want float64 (2, 3), W_query.weight is float64 (2, 2), want float64 (2, 3), W_value.weight is float64 (2, 2), want float64 (2, 3)`)
	require.EqualError(t, chapter.SetV2(v2, single), `layers: v2: Attention: state of layout "book": W_key.weight is float32 (2, 3), want float64 (2, 3), W_query.weight is float32 (2, 3), want float64 (2, 3), W_value.weight is float32 (2, 3), want float64 (2, 3)`)
	i := 0
	for name, v := range p.All() {
		require.Equal(t, before[i], floats(v), "%s was changed", name)
		i++
	}
}
