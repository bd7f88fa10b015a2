package layers_test

import (
	"fmt"
	"testing"

	"attention/graph"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// Additive attention takes two sequences: any lengths, one batch.
func TestAdditiveAttentionOfTwoSequences(t *testing.T) {
	type s = []int
	p := layers.NewParams(tensor.Float32, 1)
	l := must(layers.NewAdditiveAttention(p.Scope(""), layers.AdditiveAttentionConfig{QueryDim: 3, KeyDim: 4, AttnDim: 5}))
	for _, c := range []struct {
		query, key   s
		out, wantErr string
	}{
		{s{2, 3}, s{7, 4}, "(2, 4)", ""},
		{s{5, 1, 3}, s{5, 7, 4}, "(5, 1, 4)", ""},
		{s{2, 4}, s{7, 4}, "", "query: shape (2, 4), want ([B,] T, 3)"},
		{s{2, 3}, s{7, 3}, "", "key: shape (7, 3), want ([B,] S, 4)"},
		{s{2, 3}, s{5, 7, 4}, "", "key: shape (5, 7, 4), want the batch of query's (2, 3)"},
		{s{5, 3}, s{5, 7, 4}, "", "key: shape (5, 7, 4), want the batch of query's (5, 3)"},
		{s{5, 2, 3}, s{5, 4}, "", "key: shape (5, 4), want the batch of query's (5, 2, 3)"},
		{s{3, 2, 3}, s{5, 7, 4}, "", "key: shape (5, 7, 4), want the batch of query's (3, 2, 3)"},
		{s{2, 3}, nil, "", "key: got nil, want a node"},
	} {
		b := layers.NewBuild(p, layers.Eval)
		in := inputs(t, b, c.query, c.key, nil)
		out, err := l.Forward(b, in.Query, in.Key)
		if c.wantErr != "" {
			require.EqualError(t, err, "layers: AdditiveAttention: "+c.wantErr)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.out, fmt.Sprint(out.Shape()))
	}
}

// The scores of the additive layer can be computed from its operands.
func TestAdditiveOperands(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	l := must(layers.NewAdditiveAttention(p.Scope(""), layers.AdditiveAttentionConfig{QueryDim: 5, KeyDim: 3, AttnDim: 7}))
	b := layers.NewBuild(p, layers.Eval)
	q, k := input(t, b, "q", golden.Numbers(tensor.Float64, 2, 5)), input(t, b, "k", golden.Numbers(tensor.Float64, 4, 3))
	o := must(l.Operands(b, q, k))
	_, weights := b.Of2(graph.AdditiveAttention(o.Query, o.Key, o.Additive, o.Value, nil))
	got := values(t, weights, b.Of(l.Weights(b, q, k)))
	require.Equal(t, got[1], got[0])
	_, err := l.Operands(b, k, k)
	require.ErrorContains(t, err, "query: shape (4, 3), want")
}
