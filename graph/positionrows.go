package graph

import (
	"fmt"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// PositionRows returns the T rows of a table weight (R, E) from row start on, as (T, E):
// the learned positions of T tokens after start tokens. start is an int or int64
// node with 0 ≤ start ≤ R−T, which may change from run to run: () or, for the rows
// (…, T, E) of several sequences, (…, 1); Rows takes fixed rows.
func PositionRows(weight, start *G.Node, T int) (*G.Node, error) {
	return applyTyped(positionRows[float32]{T}, positionRows[float64]{T}, weight, start)
}

type positionRows[F kernel.Float] struct{ T int }

func (positionRows[F]) spec() spec {
	return spec{name: "PositionRows", args: []arg{{name: "weight", stored: true}, {name: "start", integer: true}}}
}

func (o positionRows[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	weight, start := in[0], in[1]
	if weight.Dims() != 2 {
		return nil, &ShapeError{"PositionRows", "weight", weight, "(R, E)"}
	}
	if !start.IsScalar() && (start.Dims() < 2 || last(start) != 1) {
		return nil, &ShapeError{"PositionRows", "start", start, "() or (…, 1)"}
	}
	if o.T < 1 || o.T > weight[0] {
		return nil, fmt.Errorf("graph: PositionRows: T: got %d, want 1 <= T <= R=%d", o.T, weight[0])
	}
	if start.IsScalar() {
		return tensor.Shape{o.T, weight[1]}, nil
	}
	return append(start[:len(start)-1].Clone(), o.T, weight[1]), nil
}

// check refuses a start outside of a table of n rows.
func (o positionRows[F]) check(start *tensor.Dense, n int) error {
	for _, s := range dense.Ints(start) {
		if s < 0 || s > int64(n-o.T) {
			return fmt.Errorf("graph: PositionRows: start: got %d for T=%d rows, want 0 <= start <= R−T=%d",
				s, o.T, n-o.T)
		}
	}
	return nil
}

func (o positionRows[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	table := in[0].Shape()
	if err := o.check(in[1], table[0]); err != nil {
		return err
	}
	y, n := dense.Floats[F](out), o.T*table[1]
	for i, s := range dense.Ints(in[1]) {
		takeFrom(y[i*n:][:n], in[0], int(s)*table[1])
	}
	return nil
}

// y = weight[start:start+T]:  dweight is dy in those rows, summed over the sequences, and 0 elsewhere.
func (o positionRows[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	if in[0].Dtype() == BF16 {
		return nil, nil
	}
	return only(apply(positionRowsBackward[F]{Of: o, R: in[0].Shape()[0]}, in[1], dy))
}

type positionRowsBackward[F kernel.Float] struct {
	isGradient
	Of positionRows[F]
	R  int
}

func (positionRowsBackward[F]) spec() spec {
	return spec{name: "PositionRowsBackward", args: []arg{{name: "start", integer: true}, {name: "dy"}}}
}

func (o positionRowsBackward[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	return tensor.Shape{o.R, last(in[1])}, nil
}

func (o positionRowsBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	if err := o.Of.check(in[0], o.R); err != nil {
		return err
	}
	dw, dy := dense.Floats[F](out), dense.Floats[F](in[1])
	clear(dw)
	width := last(out.Shape())
	n := o.Of.T * width
	for i, s := range dense.Ints(in[0]) {
		kernel.Axpy(1, dy[i*n:][:n], dw[int(s)*width:][:n])
	}
	return nil
}
