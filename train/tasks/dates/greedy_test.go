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

// In padded batches with a given memory, the choices are the same as by the whole model on one pair at a time.
func TestTranslator(t *testing.T) {
	r, err := New(layers.NewParams(tensor.Float32, 3).Scope(""), Config{Width: 6, Heads: 2, Blocks: 2})
	require.NoError(t, err)
	_, dates := Split(3)
	heldOut := &ListedPairs{Pairs: InEveryStyle(dates)[:20], Out: NewBatch(r.Alphabets, 13)}
	for _, v := range r.Params().All() { // with large weights each difference between sources counts
		for i := range v.Float32s() {
			v.Float32s()[i] *= 4
		}
	}
	tr, err := r.NewTranslator(13)
	require.NoError(t, err)
	got, err := tr.TranslateAll(t.Context(), heldOut)
	require.NoError(t, err)
	var want []string
	for _, p := range heldOut.Pairs {
		want = append(want, translateNaively(t, r, p.Written))
	}
	require.Equal(t, want, got)
	slices.Sort(want)
	require.Greater(t, len(slices.Compact(want)), 3, "a model whose output is always the same proves nothing")
}

func translateNaively(t *testing.T, r *Model, written string) string {
	source, err := r.Written.Encode(written)
	require.NoError(t, err)
	target := []int{r.Begin()}
	for range ISOLength {
		b := layers.NewBuild(r.Params(), layers.Eval)
		input := func(name string, ids []int) *G.Node {
			n := b.InputOf(tensor.Int, name, len(ids))
			require.NoError(t, b.Err())
			require.NoError(t, G.Let(n, tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(slices.Clone(ids)))))
			return n
		}
		logits, err := r.Forward(b, input("source", source), input("target", target), nil)
		require.NoError(t, err)
		m, err := machine.New(logits)
		require.NoError(t, err)
		require.NoError(t, m.RunAll())
		all := dense.Float64s(logits.Value().(*tensor.Dense))
		v := logits.Shape()[1]
		target = append(target, Largest(all[len(all)-v:len(all)-1]))
	}
	iso, err := r.ISO.Decode(target[1:])
	require.NoError(t, err)
	return iso
}

func TestLargest(t *testing.T) {
	require.Equal(t, 0, Largest([]float64{-3}))
	require.Equal(t, 1, Largest([]float64{-3, 2, 2, 1}))
}
