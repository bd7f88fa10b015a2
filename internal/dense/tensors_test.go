package dense_test

import (
	"testing"

	"attention/internal/dense"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func TestTensors(t *testing.T) {
	g := G.NewGraph()
	v := tensor.New(tensor.WithBacking([]float32{1, 2}))
	x := G.NewVector(g, tensor.Float32, G.WithShape(2), G.WithName("x"), G.WithValue(v))
	values, err := dense.Tensors(G.Nodes{x, x})
	require.NoError(t, err)
	require.Equal(t, []*tensor.Dense{v, v}, values)
	one := G.NewScalar(g, tensor.Float64, G.WithName("one"), G.WithValue(1.0))
	_, err = dense.Tensors(G.Nodes{x, one})
	require.ErrorContains(t, err, "got a *gorgonia.F64, want a tensor")
	none := G.NewVector(g, tensor.Float32, G.WithShape(2), G.WithName("none"))
	_, err = dense.Tensors(G.Nodes{none})
	require.ErrorContains(t, err, "got a <nil>, want a tensor")
}
