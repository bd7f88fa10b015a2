package stock_test

import (
	"testing"

	"attention/internal/stock"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

type taken = []tensor.Slice

func sliceCases() (cases []stockCase) {
	for _, c := range []struct {
		name  string
		shape tensor.Shape
		take  taken
		by    stock.By
	}{
		{name: "rows", shape: tensor.Shape{5, 4}, take: taken{G.S(1, 3)}, by: stock.Nothing},
		{name: "a row", shape: tensor.Shape{5, 4}, take: taken{G.S(2)}, by: stock.Nothing},
		{name: "columns", shape: tensor.Shape{5, 4}, take: taken{nil, G.S(1, 3)}, by: stock.Loop},
		{name: "a column", shape: tensor.Shape{5, 4}, take: taken{nil, G.S(3)}, by: stock.Loop},
		{name: "all", shape: tensor.Shape{5, 4}, take: taken{nil, nil}, by: stock.Nothing},
		{name: "an element", shape: tensor.Shape{5}, take: taken{G.S(3)}, by: stock.Loop},
		{name: "of a vector", shape: tensor.Shape{5}, take: taken{G.S(1, 4)}, by: stock.Nothing},
		{name: "every other row", shape: tensor.Shape{6, 4}, take: taken{G.S(0, 6, 2)}, by: stock.Loop},
		{name: "every other column", shape: tensor.Shape{3, 6}, take: taken{nil, G.S(0, 6, 2)}, by: stock.Loop},
		{name: "every fourth", shape: tensor.Shape{2, 9100}, take: taken{nil, G.S(1, 9097, 4)}, by: stock.Loop},
		{name: "far along", shape: tensor.Shape{400, 3}, take: taken{G.S(300, 390)}, by: stock.Nothing},
		{name: "middle", shape: tensor.Shape{2, 300, 3}, take: taken{nil, G.S(260, 290)}, by: stock.Loop},
		{name: "several", shape: tensor.Shape{4, 5, 6}, take: taken{G.S(1, 3), G.S(2), G.S(1, 5)}, by: stock.Loop},
		{name: "beyond the end", shape: tensor.Shape{4, 5}, take: taken{nil, G.S(2, 9)}, by: stock.Loop},
		{name: "inner of one batch", shape: tensor.Shape{1, 5, 4}, take: taken{nil, G.S(1, 4)}, by: stock.Nothing},
	} {
		cases = append(cases, stockCase{
			name: c.name, shapes: []tensor.Shape{c.shape}, by: c.by,
			build: func(in G.Nodes) (*G.Node, error) { return G.Slice(in[0], c.take...) },
		})
	}
	return cases
}

func TestSlice(t *testing.T) {
	checkAll(t, sliceCases())
}

// The gradient of a slice does not read the sliced values.
func TestSliceGradientDoesNotReadInput(t *testing.T) {
	_, grads, _ := sliceCases()[2].graph(t, tensor.Float32, asIs)
	require.Len(t, stock.Of(grads[0], asBuilt{}).Inputs(), 1)
}

// A step that does not divide a later axis is left to Gorgonia, whose tensors then have other shapes than its nodes.
func TestSliceOfUnevenSteps(t *testing.T) {
	g := G.NewGraph()
	x := G.NewMatrix(g, tensor.Float32, G.WithShape(5, 5), G.WithName("x"))
	require.Nil(t, stock.Of(G.Must(G.Slice(x, nil, G.S(0, 5, 2))), asBuilt{}))
	require.NotNil(t, stock.Of(G.Must(G.Slice(x, G.S(0, 5, 2))), asBuilt{}))
}
