package stock_test

import (
	"fmt"
	"testing"

	"attention/internal/stock"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func transpositions() (cases []stockCase) {
	for _, c := range []struct {
		shape tensor.Shape
		order []int
		by    stock.By
	}{
		{shape: tensor.Shape{3, 4}, order: []int{1, 0}},
		{shape: tensor.Shape{70, 90}, order: []int{1, 0}},
		{shape: tensor.Shape{1, 4}, order: []int{1, 0}, by: stock.Nothing},
		{shape: tensor.Shape{4, 1}, order: []int{1, 0}, by: stock.Nothing},
		{shape: tensor.Shape{2, 3, 4}, order: []int{0, 2, 1}},
		{shape: tensor.Shape{2, 3, 4}, order: []int{2, 0, 1}},
		{shape: tensor.Shape{2, 1, 4}, order: []int{1, 0, 2}, by: stock.Nothing},
		{shape: tensor.Shape{2, 3, 4, 5}, order: []int{0, 2, 1, 3}},
		{shape: tensor.Shape{2, 3, 4, 5}, order: []int{0, 2, 3, 1}},
		{shape: tensor.Shape{2, 3, 4, 5}, order: []int{3, 2, 1, 0}},
		{shape: tensor.Shape{2, 1, 3, 4}, order: []int{0, 2, 1, 3}, by: stock.Nothing},
	} {
		if c.by == "" {
			c.by = stock.Kernel
		}
		cases = append(cases, stockCase{
			name: fmt.Sprint(c.shape, c.order), shapes: []tensor.Shape{c.shape}, by: c.by,
			build: func(in G.Nodes) (*G.Node, error) { return G.Transpose(in[0], c.order...) },
		})
	}
	return cases
}

func TestTranspose(t *testing.T) {
	checkAll(t, transpositions())
}
