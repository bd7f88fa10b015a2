package graph

import (
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// AppendRow adds one row to each sequence of x (…, S, E): (…, S+1, E), the last with
// the E elements of row, or zeros if row is nil. It is how torch's MultiheadAttention
// adds bias_k, bias_v and the zeros of add_zero_attn.
func AppendRow(x, row *G.Node) (*G.Node, error) {
	if row == nil {
		return apply(appendRow{}, x)
	}
	return apply(appendRow{Row: true}, x, row)
}

type appendRow struct{ Row bool }

func (o appendRow) spec() (string, []arg) {
	args := []arg{{name: "x"}, {name: "row"}}
	if !o.Row {
		args = args[:1]
	}
	return "AppendRow", args
}

func (o appendRow) shape(in []tensor.Shape) (tensor.Shape, error) {
	y := in[0].Clone()
	if len(y) < 2 {
		return nil, &ShapeError{"AppendRow", "x", y, "(…, S, E)"}
	}
	if o.Row && in[1].TotalSize() != last(y) {
		return nil, &ShapeError{"AppendRow", "row", in[1], shapeWithAny(tensor.Shape{last(y)}, "") + " or (1, …) of it"}
	}
	y[len(y)-2]++
	return y, nil
}

func (o appendRow) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, appendRowForward[float32], appendRowForward[float64])(out, in)
}

func appendRowForward[F kernel.Float](out *tensor.Dense, in []*tensor.Dense) error {
	x, y, size, width := floats[F](in[0]), floats[F](out), headSize(in[0].Shape()), last(out.Shape())
	row := make([]F, width)
	if len(in) > 1 {
		row = floats[F](in[1])
	}
	for len(x) > 0 {
		copy(y, x[:size])
		copy(y[size:], row)
		x, y = x[size:], y[size+width:]
	}
	return nil
}

// y = (x, row):  dx is dy without its last rows, drow their sum.
func (o appendRow) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	d := make(G.Nodes, len(in))
	for i, x := range in {
		var err error
		if d[i], err = apply(appendRowBackward{Row: i == 1, Shape: x.Shape()}, dy); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// appendRowBackward is the sum of the last rows, or what lies before them.
type appendRowBackward struct {
	Row   bool
	Shape tensor.Shape
}

func (appendRowBackward) spec() (string, []arg) { return "AppendRowBackward", []arg{{name: "dy"}} }

func (o appendRowBackward) shape([]tensor.Shape) (tensor.Shape, error) { return o.Shape.Clone(), nil }

func (o appendRowBackward) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, appendRowBackwardForward[float32], appendRowBackwardForward[float64])(o, out, in)
}

func appendRowBackwardForward[F kernel.Float](o appendRowBackward, out *tensor.Dense, in []*tensor.Dense) error {
	dy, d, size, width := floats[F](in[0]), floats[F](out), headSize(in[0].Shape()), last(in[0].Shape())
	if o.Row {
		clear(d)
	}
	for ; len(dy) > 0; dy = dy[size:] {
		if !o.Row {
			copy(d, dy[:size-width])
			d = d[size-width:]
			continue
		}
		for i, v := range dy[size-width : size] {
			d[i] += v
		}
	}
	return nil
}

func (o appendRowBackward) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return noSecond(o) }
