package graph

import (
	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// AppendRow returns x (…, S, E) with one more row in each sequence, (…, S+1, E): the E
// elements of row, or zeros if row is nil. So torch's MultiheadAttention adds bias_k,
// bias_v and the zeros of add_zero_attn.
func AppendRow(x, row *G.Node) (*G.Node, error) {
	if row == nil {
		return applyTyped(appendRow[float32]{}, appendRow[float64]{}, x)
	}
	return applyTyped(appendRow[float32]{Row: true}, appendRow[float64]{Row: true}, x, row)
}

type appendRow[F kernel.Float] struct{ Row bool }

func (o appendRow[F]) spec() (string, []arg) {
	args := named("x", "row")
	if !o.Row {
		args = args[:1]
	}
	return "AppendRow", args
}

func (o appendRow[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
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

func (appendRow[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	x, y, size, width := dense.Floats[F](in[0]), dense.Floats[F](out), headSize(in[0].Shape()), last(out.Shape())
	row := make([]F, width)
	if len(in) > 1 {
		row = dense.Floats[F](in[1])
	}
	for len(x) > 0 {
		copy(y, x[:size])
		copy(y[size:], row)
		x, y = x[size:], y[size+width:]
	}
	return nil
}

// y = (x, row):  dx is dy without its last rows, drow their sum.
func (o appendRow[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	x := in[0].Shape()
	size := headSize(x)
	dx, err := takePart(dy, part{outShape{x}, "AppendRowBackward", size + last(x), columnRange{0, size}})
	if err != nil || !o.Row {
		return only(dx, err)
	}
	drow, err := apply(sumLastRows[F]{outShape: outShape{in[1].Shape()}}, dy)
	return G.Nodes{dx, drow}, err
}

// sumLastRows sums the last rows of all sequences (…, S, E).
type sumLastRows[F kernel.Float] struct {
	isGradient
	outShape
}

func (sumLastRows[F]) spec() (string, []arg) { return "SumLastRows", named("dy") }

func (sumLastRows[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	dy, drow, size := dense.Floats[F](in[0]), dense.Floats[F](out), headSize(in[0].Shape())
	clear(drow)
	for ; len(dy) > 0; dy = dy[size:] {
		for i, v := range dy[size-len(drow) : size] {
			drow[i] += v
		}
	}
	return nil
}
