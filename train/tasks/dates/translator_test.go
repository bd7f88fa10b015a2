package dates

import (
	"slices"
	"testing"

	"attention/graph/machine"
	"attention/internal/dense"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Padded batches give the same choices as the whole model for each pair alone.
func TestTranslator(t *testing.T) {
	r := must(New(layers.NewParams(tensor.Float32, 3).Scope(""), Config{EmbedDim: 6, NumHeads: 2, NumLayers: 2}))
	_, dates := Split(3)
	heldOut := &ListedPairs{Pairs: InEveryStyle(dates)[:20], Out: NewBatch(r.Alphabets, 13)}
	for _, v := range r.Params().All() { // with large weights, each difference between sources matters
		for i := range v.Float32s() {
			v.Float32s()[i] *= 4
		}
	}
	got := must(must(r.NewTranslator()).TranslateAll(t.Context(), heldOut))
	var want []string
	for _, p := range heldOut.Pairs {
		want = append(want, translateNaively(t, r, p.Written))
	}
	require.Equal(t, want, got)
	slices.Sort(want)
	require.Greater(t, len(slices.Compact(want)), 3, "a model whose output is always the same proves nothing")
}

func translateNaively(t *testing.T, r *Model, written string) string {
	source := must(r.Written.Encode(written))
	target := []int{r.Begin()}
	for range ISOLength {
		b := layers.NewBuild(r.Params(), layers.Eval)
		input := func(name string, ids []int) *G.Node {
			n := b.InputOf(tensor.Int, name, len(ids))
			require.NoError(t, b.Err())
			require.NoError(t, G.Let(n, tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(slices.Clone(ids)))))
			return n
		}
		logits := must(r.Forward(b, input("source", source), input("target", target), nil))
		require.NoError(t, must(machine.New(logits)).RunAll())
		all := dense.Float64s(logits.Value().(*tensor.Dense))
		v := logits.Shape()[1]
		target = append(target, r.Likeliest(all[len(all)-v:])...)
	}
	return must(r.ISO.Decode(target[1:]))
}

// The first of equal characters is likeliest, and the mark, which is the last, never.
func TestLikeliest(t *testing.T) {
	a := must(NewAlphabets())
	logits := make([]float64, 2*(a.ISO.Len()+1))
	logits[3], logits[5], logits[a.Begin()] = 2, 2, 9
	require.Equal(t, []int{3, 0}, a.Likeliest(logits))
}
