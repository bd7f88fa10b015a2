package stock_test

import (
	"testing"

	"attention/internal/stock"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A product reads transposed matrices where they lie.
func TestProductsReadThroughTranspositions(t *testing.T) {
	g := G.NewGraph()
	q := G.NewTensor(g, tensor.Float32, 4, G.WithShape(2, 5, 3, 4), G.WithName("q"))
	k := G.NewTensor(g, tensor.Float32, 4, G.WithShape(2, 6, 3, 4), G.WithName("k"))
	heads := func(x *G.Node) *G.Node { return G.Must(G.Transpose(x, 0, 2, 1, 3)) }
	op := stock.Of(G.Must(G.BatchedMatMul(heads(q), heads(k), false, true)), inputsOf)
	require.Equal(t, G.Nodes{q, k}, op.Inputs())
	strange := G.Must(G.Transpose(q, 0, 3, 2, 1)) // (2, 4, 3, 5): neither rows nor columns lie together
	op = stock.Of(G.Must(G.BatchedMatMul(strange, G.Must(G.Transpose(k, 0, 3, 1, 2)), true, false)), inputsOf)
	require.Nil(t, op, "they do not fit")
}
