package stock_test

import (
	"fmt"
	"testing"

	"attention/internal/stock"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

type square = tensor.Shape // heights and widths

// columnCases are images of several sizes under several kernels. Their gradients are col2im's results.
func columnCases() (cases []stockCase) {
	for _, c := range []struct {
		image                         tensor.Shape
		kernel, pad, stride, dilation square
		reason                        string
	}{
		{image: tensor.Shape{1, 1, 1, 1},
			kernel: square{1, 1}, pad: square{0, 0}, stride: square{1, 1}, dilation: square{1, 1}},
		{image: tensor.Shape{2, 3, 5, 4},
			kernel: square{3, 2}, pad: square{0, 0}, stride: square{1, 1}, dilation: square{1, 1}},
		{image: tensor.Shape{2, 3, 5, 4},
			kernel: square{3, 2}, pad: square{1, 1}, stride: square{2, 1}, dilation: square{1, 1}},
		{image: tensor.Shape{2, 1, 7, 9},
			kernel: square{3, 3}, pad: square{2, 3}, stride: square{2, 3}, dilation: square{2, 3},
			reason: "places that lie outside"},
		{image: tensor.Shape{1, 2, 2, 2},
			kernel: square{3, 3}, pad: square{5, 5}, stride: square{1, 1}, dilation: square{1, 1},
			reason: "more padding than kernel"},
		{image: tensor.Shape{1, 1, 3, 3},
			kernel: square{1, 1}, pad: square{0, 0}, stride: square{2, 2}, dilation: square{1, 1},
			reason: "elements that no kernel covers"},
		{image: tensor.Shape{4, 3, 32, 32},
			kernel: square{5, 5}, pad: square{2, 2}, stride: square{1, 1}, dilation: square{1, 1},
			reason: "on several cores"},
	} {
		cases = append(cases, stockCase{
			name: fmt.Sprint(c), shapes: []tensor.Shape{c.image}, by: stock.Loop, gradient: "gorgonia.col2imOp",
			build: func(in G.Nodes) (*G.Node, error) { return G.Im2Col(in[0], c.kernel, c.pad, c.stride, c.dilation) },
		})
	}
	return cases
}

func TestColumns(t *testing.T) {
	checkAll(t, columnCases())
}
