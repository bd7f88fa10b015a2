package stock_test

import (
	"fmt"
	"testing"

	"attention/internal/stock"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func tensordots() (cases []stockCase) {
	for _, c := range []struct {
		a, b         tensor.Shape
		axesA, axesB []int
	}{
		{a: tensor.Shape{3, 4}, b: tensor.Shape{4, 5}, axesA: []int{1}, axesB: []int{0}},
		{a: tensor.Shape{3, 4}, b: tensor.Shape{5, 4}, axesA: []int{1}, axesB: []int{1}},
		{a: tensor.Shape{4, 3}, b: tensor.Shape{5, 4}, axesA: []int{0}, axesB: []int{1}},
		{a: tensor.Shape{2, 3, 4}, b: tensor.Shape{4, 5}, axesA: []int{2}, axesB: []int{0}},
		{a: tensor.Shape{2, 3, 4}, b: tensor.Shape{3, 5}, axesA: []int{1}, axesB: []int{0}},
		{a: tensor.Shape{2, 3, 4}, b: tensor.Shape{4, 3, 5}, axesA: []int{1, 2}, axesB: []int{1, 0}},
		{a: tensor.Shape{2, 3, 4}, b: tensor.Shape{5, 3, 4}, axesA: []int{1, 2}, axesB: []int{1, 2}},
	} {
		cases = append(cases, stockCase{
			name: fmt.Sprint(c.a, c.b, c.axesA, c.axesB), shapes: []tensor.Shape{c.a, c.b}, by: stock.Kernel,
			build: func(in G.Nodes) (*G.Node, error) { return G.Tensordot(c.axesA, c.axesB, in[0], in[1]) },
		})
	}
	return cases
}

func TestTensordot(t *testing.T) {
	checkAll(t, tensordots())
}
