package graph

import (
	"fmt"
	"slices"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Concat joins nodes (…, Eᵢ) along the last axis (torch.cat, dim -1).
func Concat(xs ...*G.Node) (*G.Node, error) {
	if len(xs) == 0 {
		return nil, fmt.Errorf("graph: Concat: xs: got none, want at least one node")
	}
	return apply(concat{len(xs)}, xs...)
}

type concat struct{ N int }

func (o concat) spec() (string, []arg) {
	args := make([]arg, o.N)
	for i := range args {
		args[i].name = fmt.Sprintf("xs[%d]", i)
	}
	return "Concat", args
}

func (o concat) shape(in []tensor.Shape) (tensor.Shape, error) {
	first := in[0]
	if first.Dims() == 0 {
		return nil, &ShapeError{"Concat", "xs[0]", first, "(…, E)"}
	}
	y := first.Clone()
	for i, x := range in[1:] {
		n := x.Dims()
		if n != first.Dims() || !slices.Equal(x[:n-1], first[:n-1]) {
			return nil, &ShapeError{"Concat", fmt.Sprintf("xs[%d]", i+1), x,
				fmt.Sprintf("%v but for the last axis", first)}
		}
		y[n-1] += x[n-1]
	}
	return y, nil
}

func (o concat) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, concatForward[float32], concatForward[float64])(out, in)
}

func concatForward[F kernel.Float](out *tensor.Dense, in []*tensor.Dense) error {
	y, cols, from := floats[F](out), last(out.Shape()), 0
	for _, t := range in {
		x, w := floats[F](t), last(t.Shape())
		for r := 0; r*w < len(x); r++ {
			copy(y[r*cols+from:][:w], x[r*w:])
		}
		from += w
	}
	return nil
}

// y = [x₁ x₂ …]:  dxᵢ = the columns of dy that xᵢ filled.
func (o concat) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	dxs, from := make(G.Nodes, len(in)), 0
	for i, x := range in {
		to := from + last(x.Shape())
		dx, err := apply(columns{from, to}, dy)
		if err != nil {
			return nil, err
		}
		dxs[i], from = dx, to
	}
	return dxs, nil
}

// columns are the columns From … To of the last axis. It is an op of its own
// since Gorgonia's Slice drops an axis of width 1.
type columns struct{ From, To int }

func (columns) spec() (string, []arg) { return "Columns", []arg{{name: "x"}} }

func (o columns) shape(in []tensor.Shape) (tensor.Shape, error) {
	y := in[0].Clone()
	y[len(y)-1] = o.To - o.From
	return y, nil
}

func (o columns) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, columnsForward[float32], columnsForward[float64])(o, out, in)
}

func columnsForward[F kernel.Float](o columns, out *tensor.Dense, in []*tensor.Dense) error {
	x, y, cols, w := floats[F](in[0]), floats[F](out), last(in[0].Shape()), o.To-o.From
	for r := 0; r*w < len(y); r++ {
		copy(y[r*w:][:w], x[r*cols+o.From:])
	}
	return nil
}

func (o columns) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return noSecond(o) }
