package stock_test

import (
	"testing"

	tensors "attention/internal/dense"
	"attention/internal/stock"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// batched returns the product of each pair of matrices, some transposed.
func batched(transA, transB bool) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) { return G.BatchedMatMul(in[0], in[1], transA, transB) }
}

func mul(in G.Nodes) (*G.Node, error) { return G.Mul(in[0], in[1]) }

// transposed applies a function to inputs whose axes are first permuted; nil leaves an input unchanged.
func transposed(f func(in G.Nodes) (*G.Node, error), orders ...[]int) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) {
		turned := append(G.Nodes{}, in...)
		for i, order := range orders {
			if order != nil {
				turned[i] = G.Must(G.Transpose(in[i], order...))
			}
		}
		return f(turned)
	}
}

func products() []stockCase {
	return []stockCase{
		{name: "matrices", shapes: []tensor.Shape{{3, 4}, {4, 5}}, build: mul},
		{name: "matrices of one element", shapes: []tensor.Shape{{1, 1}, {1, 1}}, build: mul},
		{name: "large matrices", shapes: []tensor.Shape{{70, 300}, {300, 90}}, build: mul},
		{
			name: "transposed matrices", shapes: []tensor.Shape{{4, 3}, {5, 4}},
			build: transposed(mul, []int{1, 0}, []int{1, 0}),
		},
		{name: "matrix and vector", shapes: []tensor.Shape{{3, 4}, {4}}, build: mul},
		{name: "vector and matrix", shapes: []tensor.Shape{{3}, {3, 4}}, build: mul},
		{
			name: "transposed matrix and vector", shapes: []tensor.Shape{{4, 3}, {4}},
			build: transposed(mul, []int{1, 0}),
		},
		{name: "vectors", shapes: []tensor.Shape{{7}, {7}}, build: mul},
		{name: "long vectors", shapes: []tensor.Shape{{10007}, {10007}}, build: mul},
		{name: "vectors of one element", shapes: []tensor.Shape{{1}, {1}}, build: mul},
		{
			name: "outer product", shapes: []tensor.Shape{{3}, {5}}, noGrad: true, // Gorgonia builds another
			build: func(in G.Nodes) (*G.Node, error) { return G.OuterProd(in[0], in[1]) },
		},
		{name: "batch", shapes: []tensor.Shape{{2, 3, 4}, {2, 4, 5}}, build: batched(false, false)},
		{name: "batch, a transposed", shapes: []tensor.Shape{{2, 4, 3}, {2, 4, 5}}, build: batched(true, false)},
		{name: "batch, b transposed", shapes: []tensor.Shape{{2, 3, 4}, {2, 5, 4}}, build: batched(false, true)},
		{name: "batch, both transposed", shapes: []tensor.Shape{{2, 4, 3}, {2, 5, 4}}, build: batched(true, true)},
		{name: "batch of batches", shapes: []tensor.Shape{{2, 3, 4, 5}, {2, 3, 5, 6}}, build: batched(false, false)},
		{
			name: "batch of batches, b transposed", shapes: []tensor.Shape{{2, 3, 4, 5}, {2, 3, 6, 5}},
			build: batched(false, true),
		},
		{
			name: "heads in rows", shapes: []tensor.Shape{{2, 5, 3, 4}, {2, 6, 3, 4}},
			build: transposed(batched(false, true), []int{0, 2, 1, 3}, []int{0, 2, 1, 3}),
		},
		{
			name: "heads in rows, keys transposed", shapes: []tensor.Shape{{2, 5, 3, 4}, {2, 6, 3, 4}},
			build: transposed(batched(false, false), []int{0, 2, 1, 3}, []int{0, 2, 3, 1}),
		},
		{
			name: "values in rows", shapes: []tensor.Shape{{2, 3, 5, 6}, {2, 6, 3, 4}},
			build: transposed(batched(false, false), nil, []int{0, 2, 1, 3}),
		},
		{
			name: "an order that no kernel reads", shapes: []tensor.Shape{{5, 4, 2, 3}, {2, 3, 4, 6}},
			build: transposed(batched(false, false), []int{2, 3, 0, 1}),
		},
		{
			name: "batch is the last axis", shapes: []tensor.Shape{{5, 4, 3}, {3, 4, 6}},
			build: transposed(batched(false, false), []int{2, 0, 1}),
		},
	}
}

func TestProducts(t *testing.T) {
	cases := products()
	for i := range cases {
		c := &cases[i]
		c.by = stock.Kernel
		if c.shapes[0].IsVector() && c.shapes[1].IsVector() && c.name != "outer product" {
			c.by = stock.Loop
		}
	}
	checkAll(t, cases)
}

// Operands that do not fit together are left to Gorgonia, which returns an error in a run.
func TestProductsThatDoNotFitAreNotComputed(t *testing.T) {
	g := G.NewGraph()
	a := G.NewTensor(g, tensor.Float32, 3, G.WithShape(2, 3, 4), G.WithName("a"))
	b := G.NewTensor(g, tensor.Float32, 3, G.WithShape(2, 5, 6), G.WithName("b"))
	require.Nil(t, stock.Of(G.Must(G.BatchedMatMul(a, b)), asBuilt{}))
	x := G.NewVector(g, tensor.Float32, G.WithShape(3), G.WithName("x"))
	y := G.NewVector(g, tensor.Float32, G.WithShape(4), G.WithName("y"))
	require.Nil(t, stock.Of(G.Must(G.Mul(x, y)), asBuilt{}))
}

// The sum of a million squares is as accurate as a sum by pairs.
func TestLongDotIsAccurate(t *testing.T) {
	square := func(in G.Nodes) (*G.Node, error) { return G.Mul(in[0], in[0]) }
	c := stockCase{shapes: []tensor.Shape{{1 << 20}}, build: square, noGrad: true}
	y, _, values := c.graph(t, tensor.Float32, asIs)
	want := 0.0
	for _, v := range tensors.Float64s(values[inputsInOrder(y.Graph(), 1)[0]]) {
		want += v * v
	}
	require.InDelta(t, want, tensors.Float64s(evaluate(t, y, values))[0], 20*0x1p-23*want)
}
