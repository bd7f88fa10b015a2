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

func reshapes() (cases []stockCase) {
	for _, c := range []struct {
		from, to tensor.Shape
		by       stock.By
	}{
		{from: tensor.Shape{3, 4}, to: tensor.Shape{4, 3}, by: stock.Nothing},
		{from: tensor.Shape{3, 4}, to: tensor.Shape{12}, by: stock.Nothing},
		{from: tensor.Shape{2, 3, 4}, to: tensor.Shape{1, 6, 4, 1}, by: stock.Nothing},
		{from: tensor.Shape{1}, to: tensor.Shape{1, 1}, by: stock.Nothing},
		{from: tensor.Shape{}, to: tensor.Shape{1, 1}, by: stock.Loop}, // a scalar is no tensor in Gorgonia
	} {
		cases = append(cases, stockCase{
			name: fmt.Sprint(c.from, c.to), shapes: []tensor.Shape{c.from}, by: c.by,
			build: func(in G.Nodes) (*G.Node, error) { return G.Reshape(in[0], c.to) },
		})
	}
	return cases
}

func TestReshape(t *testing.T) { checkAll(t, reshapes()) }

// A constant has its value before any run.
func TestConstants(t *testing.T) {
	three := tensor.New(tensor.WithBacking([]float64{1, 2, 3}))
	for _, v := range []any{2.5, float32(2.5), three} {
		n := G.NewConstant(v)
		op := stock.Of(n, unlinked{})
		require.NotNil(t, op, "%v", v)
		require.Equal(t, stock.Nothing, op.By())
		require.Empty(t, op.Inputs())
		require.Equal(t, n.Value(), op.Value())
	}
}

// The length of an axis, by which a mean divides, is known before any run and reads nothing.
func TestSizes(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		x := G.NewMatrix(G.NewGraph(), dt, G.WithShape(3, 5), G.WithName("x"))
		mean := G.Must(G.Mean(x, 1))
		var sizes []float64
		for _, n := range mean.Graph().AllNodes() {
			if fmt.Sprintf("%T", n.Op()) == "gorgonia.sizeOp" {
				op := stock.Of(n, asBuilt{})
				require.NotNil(t, op)
				require.Equal(t, dt, op.Value().Dtype())
				require.Empty(t, op.Inputs())
				sizes = append(sizes, tensors.Float64s(op.Value())...)
			}
		}
		require.Equal(t, []float64{5}, sizes)
	}
}

// unlinked is a graph of single nodes.
type unlinked struct{ asBuilt }

func (unlinked) Inputs(*G.Node) G.Nodes { return nil }
