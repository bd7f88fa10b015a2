package stock_test

import (
	"fmt"
	"math"
	"testing"

	tensors "attention/internal/dense"
	"attention/internal/stock"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func pools() (cases []stockCase) {
	for _, c := range []struct {
		image, kernel tensor.Shape
		pad, stride   []int
	}{
		{image: tensor.Shape{1, 1, 1, 1}, kernel: tensor.Shape{1, 1}, pad: []int{0, 0}, stride: []int{1, 1}},
		{image: tensor.Shape{2, 3, 6, 4}, kernel: tensor.Shape{2, 2}, pad: []int{0, 0}, stride: []int{2, 2}},
		{image: tensor.Shape{2, 3, 5, 7}, kernel: tensor.Shape{3, 2}, pad: []int{1, 1}, stride: []int{1, 2}},
		{image: tensor.Shape{2, 3, 5, 7}, kernel: tensor.Shape{3, 2}, pad: []int{1, 1, 0, 0}, stride: []int{1, 2}},
		{image: tensor.Shape{2, 3, 6, 6}, kernel: tensor.Shape{2, 2}, pad: []int{1, 0, 1, 0}, stride: []int{2, 2}},
		{image: tensor.Shape{2, 3, 6, 7}, kernel: tensor.Shape{3, 3}, pad: []int{0, 2, 1, 0}, stride: []int{2, 1}},
		{image: tensor.Shape{4, 16, 24, 24}, kernel: tensor.Shape{2, 2}, pad: []int{0, 0}, stride: []int{2, 2}},
	} {
		cases = append(cases, stockCase{
			name: fmt.Sprint(c), shapes: []tensor.Shape{c.image}, by: stock.Loop, gradient: "*gorgonia.maxPoolDiffOp",
			build: func(in G.Nodes) (*G.Node, error) { return G.MaxPool2D(in[0], c.kernel, c.pad, c.stride) },
		})
	}
	return cases
}

func TestMaxPool(t *testing.T) {
	checkAll(t, pools())
}

// A NaN counts as the largest, as in torch; the gradient goes to the first of equal largest elements.
func TestMaxPoolOfNaNAndTies(t *testing.T) {
	g := G.NewGraph()
	x := G.NewTensor(g, tensor.Float64, 4, G.WithShape(1, 1, 2, 6), G.WithName("x"))
	y := G.Must(G.MaxPool2D(x, tensor.Shape{2, 2}, []int{0, 0}, []int{2, 2}))
	grads, err := G.Grad(G.Must(G.Sum(y)), x)
	require.NoError(t, err)
	nan, inf := math.NaN(), math.Inf(1)
	values := map[*G.Node]G.Value{x: dense(tensor.Float64, []float64{
		1, nan, 4, 4, -inf, -inf,
		2, nan, 4, 3, -inf, -inf}, 1, 1, 2, 6)}
	require.Equal(t, "[NaN 4 -Inf]", fmt.Sprint(tensors.Float64s(evaluate(t, y, values))))
	require.Equal(t, []float64{0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0}, tensors.Float64s(evaluate(t, grads[0], values)))
}

// The first of several zeros is taken, with its sign.
func TestMaxPoolOfZeros(t *testing.T) {
	g := G.NewGraph()
	x := G.NewTensor(g, tensor.Float32, 4, G.WithShape(1, 1, 2, 4), G.WithName("x"))
	y := G.Must(G.MaxPool2D(x, tensor.Shape{2, 2}, []int{0, 0}, []int{2, 2}))
	minus := math.Copysign(0, -1)
	values := map[*G.Node]G.Value{x: dense(tensor.Float32, []float64{minus, 0, 0, minus, -1, 0, minus, -1}, 1, 1, 2, 4)}
	require.Equal(t, "[-0 0]", fmt.Sprint(tensors.Float64s(evaluate(t, y, values))))
}

// Kernels that cover only padding.
func TestMaxPoolLeavesToGorgonia(t *testing.T) {
	x := G.NewTensor(G.NewGraph(), tensor.Float64, 4, G.WithShape(1, 1, 4, 4), G.WithName("x"))
	for _, pad := range [][]int{{2, 2}, {0, 2, 0, 0}, {0, 0, 2, 0}} {
		require.Nil(t, stock.Of(G.Must(G.MaxPool2D(x, tensor.Shape{2, 2}, pad, []int{1, 1})), asBuilt{}))
	}
}
