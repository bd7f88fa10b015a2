package stock_test

import (
	"fmt"
	"testing"

	"attention/internal/stock"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func concats() (cases []stockCase) {
	for _, c := range []struct {
		axis   int
		shapes []tensor.Shape
	}{
		{axis: 0, shapes: []tensor.Shape{{2, 3}, {4, 3}}},
		{axis: 1, shapes: []tensor.Shape{{2, 3}, {2, 4}, {2, 2}}},
		{axis: 0, shapes: []tensor.Shape{{3}, {4}}},
		{axis: 1, shapes: []tensor.Shape{{2, 3, 4}, {2, 2, 4}}},
		{axis: 2, shapes: []tensor.Shape{{2, 3, 4}, {2, 3, 2}}},
		{axis: 1, shapes: []tensor.Shape{{70, 300}, {70, 90}}},
		{axis: 0, shapes: []tensor.Shape{{70, 300}, {50, 300}, {60, 300}}},
	} {
		cases = append(cases, stockCase{
			name: fmt.Sprint(c.axis, c.shapes), shapes: c.shapes, by: stock.Loop,
			build: func(in G.Nodes) (*G.Node, error) { return G.Concat(c.axis, in...) },
		})
	}
	return cases
}

func TestConcat(t *testing.T) {
	checkAll(t, concats())
}
