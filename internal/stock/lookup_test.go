package stock_test

import (
	"testing"

	tensors "attention/internal/dense"
	"attention/internal/stock"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A lookupCase looks up positions of an axis. Gorgonia's machine is correct only along the first axis of a matrix.
type lookupCase struct {
	name    string
	shape   tensor.Shape
	axis    int
	indices []int
}

func lookups() []lookupCase {
	return []lookupCase{
		{name: "rows", shape: tensor.Shape{5, 3}, indices: []int{4, 0, 0, 2}},
		{name: "one row", shape: tensor.Shape{5, 3}, indices: []int{3}},
		{name: "columns", shape: tensor.Shape{3, 5}, axis: 1, indices: []int{4, 0, 0, 2, 1, 4}},
		{name: "of a vector", shape: tensor.Shape{5}, indices: []int{1, 1, 4}},
		{name: "middle axis", shape: tensor.Shape{2, 5, 3}, axis: 1, indices: []int{1, 1, 4}},
		{name: "many", shape: tensor.Shape{700, 30}, indices: make([]int, 900)},
	}
}

func (c lookupCase) stock() stockCase {
	return stockCase{
		name: c.name, shapes: []tensor.Shape{c.shape}, by: stock.Loop,
		build: func(in G.Nodes) (*G.Node, error) {
			indices := tensor.New(tensor.WithShape(len(c.indices)), tensor.WithBacking(c.indices))
			return G.ByIndices(in[0], G.NewTensor(in[0].Graph(), tensor.Int, 1, G.WithName("indices"),
				G.WithShape(len(c.indices)), G.WithValue(indices)), c.axis)
		},
	}
}

// each calls f for each element that is copied, with its destination.
func (c lookupCase) each(f func(from, to int)) {
	outer, n, inner := c.shape[:c.axis].TotalSize(), c.shape[c.axis], c.shape[c.axis+1:].TotalSize()
	for o := range outer {
		for j, place := range c.indices {
			for k := range inner {
				f((o*n+place)*inner+k, (o*len(c.indices)+j)*inner+k)
			}
		}
	}
}

func TestByIndices(t *testing.T) {
	var cases []stockCase
	for _, c := range lookups() {
		asked := c.stock()
		asked.noGrad = true
		asked.naive = func(in [][]float64) []float64 {
			y := make([]float64, len(in[0])/c.shape[c.axis]*len(c.indices))
			c.each(func(from, to int) { y[to] = in[0][from] })
			return y
		}
		cases = append(cases, asked)
	}
	checkAll(t, cases)
}

// The gradient of an element is the sum of the gradients of its copies.
func TestByIndicesGradient(t *testing.T) {
	for _, c := range lookups() {
		_, grads, values := c.stock().graph(t, tensor.Float64, asIs)
		want := make([]float64, c.shape.TotalSize())
		up := numbersFor(1, len(want)/c.shape[c.axis]*len(c.indices))
		c.each(func(from, to int) { want[from] += up[to] })
		require.InDeltaSlice(t, want, tensors.Float64s(evaluate(t, grads[0], values)), 1e-11, c.name)
		requireNoAllocations(t, grads[0], values)
	}
}

func TestByIndicesRefusesOtherPlaces(t *testing.T) {
	c := lookups()[0].stock()
	y, grads, _ := c.graph(t, tensor.Float64, asIs)
	for _, bad := range []int{-1, 5} {
		i := tensor.New(tensor.WithBacking([]int{0, 1, bad, 2}))
		_, err := stock.Of(y, asBuilt{}).UsePreallocDo(newValue(y), dense(tensor.Float64, make([]float64, 15), 5, 3), i)
		require.ErrorContains(t, err, "want 0 to 4")
		into := newValue(grads[0])
		_, err = stock.Of(grads[0], asBuilt{}).UsePreallocDo(into, dense(tensor.Float64, make([]float64, 12), 4, 3), i)
		require.ErrorContains(t, err, "want 0 to 4")
	}
}

// Gorgonia's machine runs At as a statement, without a value.
func TestAt(t *testing.T) {
	checkAll(t, []stockCase{
		{
			name: "of a matrix", shapes: []tensor.Shape{{3, 4}}, by: stock.Loop, noGrad: true,
			naive: func(in [][]float64) []float64 { return in[0][2*4+1:][:1] },
			build: func(in G.Nodes) (*G.Node, error) { return G.At(in[0], 2, 1) },
		},
		{
			name: "of three axes", shapes: []tensor.Shape{{2, 3, 12}}, by: stock.Loop, noGrad: true,
			naive: func(in [][]float64) []float64 { return in[0][2*3*12-1:] },
			build: func(in G.Nodes) (*G.Node, error) { return G.At(in[0], 1, 2, 11) },
		},
	})
}
