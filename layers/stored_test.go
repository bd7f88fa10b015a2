package layers_test

import (
	"testing"

	"attention/graph"
	"attention/internal/dense"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// storedLinear returns a set of a Linear's parameters that have no values yet.
func storedLinear(t *testing.T, dt tensor.Dtype) (*layers.Params, *layers.Linear) {
	p := layers.NewStoredParams(dt)
	return p, must(layers.NewLinear(p.Scope("l"), layers.LinearConfig{InFeatures: 2, OutFeatures: 3}))
}

func ones(n int) []dense.BFloat16 {
	all := make([]dense.BFloat16, n)
	for i := range all {
		all[i] = 0x3f80
	}
	return all
}

func TestKeep(t *testing.T) {
	p, _ := storedLinear(t, tensor.Float32)
	_, ok := p.Get("l.weight")
	require.False(t, ok)
	require.Zero(t, p.Bytes())
	stored := of(ones(6), 3, 2)
	require.NoError(t, p.Keep("l.weight", stored))
	got, _ := p.Get("l.weight")
	require.Same(t, stored, got)
	require.Equal(t, 12, p.Bytes())
	require.Equal(t, tensor.Float32, p.Dtype())
	require.NoError(t, p.Freeze("l"))
	p.Widen()
	got, _ = p.Get("l.weight")
	require.Same(t, stored, got, "it is frozen")
	require.NoError(t, p.Unfreeze("l"))
	p.Widen()
	got, _ = p.Get("l.weight")
	require.Equal(t, []float32{1, 1, 1, 1, 1, 1}, got.Data())
	require.Equal(t, 24, p.Bytes())
}

func TestKeepRefuses(t *testing.T) {
	turned := of(make([]float32, 6), 2, 3)
	require.NoError(t, turned.T())
	for _, row := range []struct {
		name string
		dt   tensor.Dtype
		v    *tensor.Dense
		want string
	}{
		{"l.bias", tensor.Float32, turned, "layers: l.bias: unknown, want one of 1 parameters"},
		{"l.weight", tensor.Float32, nil, "layers: l.weight: got nil, want a tensor"},
		{"l.weight", tensor.Float32, new(tensor.Dense), "layers: l.weight: got nil, want a tensor"},
		{"l.weight", tensor.Float32, tensor.New(tensor.WithBacking(ones(6))), "layers: l.weight: shape (6), want (3, 2)"},
		{"l.weight", tensor.Float64, of(ones(6), 3, 2), "layers: l.weight: got bfloat16, want float64"},
		{"l.weight", tensor.Float32, turned, "layers: l.weight: got a view of float32 (3, 2), want its elements row by row"},
	} {
		p, _ := storedLinear(t, row.dt)
		require.EqualError(t, p.Keep(row.name, row.v), row.want)
	}
}

// A stored weight is used as it is in Eval graphs, and in Train graphs if it is frozen.
func TestStoredWeightInGraphs(t *testing.T) {
	p, l := storedLinear(t, tensor.Float32)
	require.NoError(t, p.Keep("l.weight", of(ones(6), 3, 2)))
	forward := func(mode layers.Mode) error {
		b := layers.NewBuild(p, mode)
		y, err := l.Forward(b, b.Input("x", 4, 2))
		if err == nil {
			require.Equal(t, tensor.Float32, y.Dtype())
			require.Equal(t, graph.BF16, b.Learnables()[0].Dtype())
		}
		return err
	}
	require.NoError(t, forward(layers.Eval))
	require.EqualError(t, forward(layers.Train), "layers: l.weight: got a parameter stored in bfloat16 to train, "+
		"want it frozen, or widened by Params.Widen")
	require.NoError(t, p.Freeze("l"))
	b := layers.NewBuild(p, layers.Train)
	must(l.Forward(b, b.Input("x", 4, 2)))
	require.Empty(t, b.Learnables())
}
