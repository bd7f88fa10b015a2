package stock_test

import (
	"fmt"
	"testing"

	tensors "attention/internal/dense"
	"attention/internal/stock"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A product reads transposed matrices in place.
func TestProductsReadThroughTranspositions(t *testing.T) {
	g := G.NewGraph()
	q := G.NewTensor(g, tensor.Float32, 4, G.WithShape(2, 5, 3, 4), G.WithName("q"))
	k := G.NewTensor(g, tensor.Float32, 4, G.WithShape(2, 6, 3, 4), G.WithName("k"))
	heads := func(x *G.Node) *G.Node { return G.Must(G.Transpose(x, 0, 2, 1, 3)) }
	op := stock.Of(G.Must(G.BatchedMatMul(heads(q), heads(k), false, true)), asBuilt{})
	require.Equal(t, G.Nodes{q, k}, op.Inputs())
	strange := G.Must(G.Transpose(q, 0, 3, 2, 1)) // (2, 4, 3, 5): neither rows nor columns lie together
	op = stock.Of(G.Must(G.BatchedMatMul(strange, G.Must(G.Transpose(k, 0, 3, 1, 2)), true, false)), asBuilt{})
	require.Nil(t, op, "they do not fit")
}

// alone is a graph in which each node has one reader.
type alone struct{ asBuilt }

func (alone) OnlyOneReads(*G.Node) bool { return true }

// Products that are scaled by a power of two or transposed are computed in one step, with the same bits.
func TestProductsOfScaledAndTransposed(t *testing.T) {
	g := G.NewGraph()
	values := map[*G.Node]G.Value{}
	heads := func(name string, shape ...int) *G.Node {
		n := G.NewTensor(g, tensor.Float32, 4, G.WithShape(shape...), G.WithName(name))
		values[n] = dense(tensor.Float32, numbersFor(len(values), n.Shape().TotalSize()), shape...)
		return n
	}
	q, k, v := heads("q", 2, 3, 37, 40), heads("k", 2, 3, 41, 40), heads("v", 2, 3, 41, 24)
	times := func(x *G.Node, by float32) *G.Node { return G.Must(G.HadamardProd(x, G.NewConstant(by))) }
	back := func(x *G.Node) *G.Node { return G.Must(G.Mul(G.NewConstant(float32(0.25)), x)) }
	scores := G.Must(G.BatchedMatMul(q, k, false, true))
	merged := G.Must(G.Transpose(G.Must(G.BatchedMatMul(scores, v)), 0, 2, 1, 3))
	for name, c := range map[string]struct {
		n    *G.Node
		read G.Nodes
	}{
		"scaled":              {n: times(scores, 0.125), read: G.Nodes{q, k}},
		"number first":        {n: back(scores), read: G.Nodes{q, k}},
		"of a scaled one":     {n: G.Must(G.BatchedMatMul(times(q, -4), k, false, true)), read: G.Nodes{q, k}},
		"transposed":          {n: merged, read: G.Nodes{scores, v}},
		"first axis last but": {n: G.Must(G.Transpose(scores, 1, 2, 0, 3)), read: G.Nodes{q, k}},
		"no power of two":     {n: times(scores, 0.3), read: G.Nodes{scores, nil}},
		"last axis moved":     {n: G.Must(G.Transpose(scores, 0, 1, 3, 2)), read: G.Nodes{scores}},
		"of the factor":       {n: times(scores, 1<<30), read: G.Nodes{scores, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			want := tensors.Float64s(evaluate(t, c.n, values))
			product := fmt.Sprintf("%T", c.n.Op()) == "gorgonia.linAlgBinOp"
			require.True(t, product || stock.Of(c.n, asBuilt{}).Inputs()[0] != q, "of a product that others need")
			op := stock.Of(c.n, alone{})
			require.Equal(t, stock.Kernel, op.By())
			var in []G.Value
			for i, n := range op.Inputs() {
				if c.read[i] != nil {
					require.Same(t, c.read[i], n)
				}
				in = append(in, evaluate(t, n, values))
			}
			got, err := op.UsePreallocDo(newValue(c.n), in...)
			require.NoError(t, err)
			require.Equal(t, want, tensors.Float64s(got))
		})
	}
}
