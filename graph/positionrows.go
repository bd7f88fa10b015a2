package graph

import (
	"fmt"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// PositionRows returns the T rows of a table weight (R, E) from row start on, as (T, E):
// the learned positions of T tokens after start others. start is an int or int64 scalar
// node with 0 ≤ start ≤ R−T, which may change from run to run; Rows takes fixed rows.
func PositionRows(weight, start *G.Node, T int) (*G.Node, error) {
	return applyTyped(positionRows[float32]{T}, positionRows[float64]{T}, weight, start)
}

type positionRows[F kernel.Float] struct{ T int }

func (positionRows[F]) spec() (string, []arg) {
	return "PositionRows", []arg{{name: "weight"}, {name: "start", integer: true}}
}

func (o positionRows[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	weight, start := in[0], in[1]
	if weight.Dims() != 2 {
		return nil, &ShapeError{"PositionRows", "weight", weight, "(R, E)"}
	}
	if !start.IsScalar() {
		return nil, &ShapeError{"PositionRows", "start", start, "()"}
	}
	if o.T < 1 || o.T > weight[0] {
		return nil, fmt.Errorf("graph: PositionRows: T: got %d, want 1 <= T <= R=%d", o.T, weight[0])
	}
	return tensor.Shape{o.T, weight[1]}, nil
}

// from returns the element at which the rows begin in a table of n rows of width e.
func (o positionRows[F]) from(start *tensor.Dense, n, e int) (int, error) {
	s := dense.Ints(start)[0]
	if s < 0 || s > int64(n-o.T) {
		return 0, fmt.Errorf("graph: PositionRows: start: got %d for T=%d rows, want 0 <= start <= R−T=%d",
			s, o.T, n-o.T)
	}
	return int(s) * e, nil
}

func (o positionRows[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	table := in[0].Shape()
	from, err := o.from(in[1], table[0], table[1])
	if err != nil {
		return err
	}
	return copyFrom(out, in[0], from)
}

// y = weight[start:start+T]:  dweight is dy in those rows, 0 in the others.
func (o positionRows[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	dw, err := apply(positionRowsBackward[F]{Of: o, R: in[0].Shape()[0]}, in[1], dy)
	return G.Nodes{dw, nil}, err
}

type positionRowsBackward[F kernel.Float] struct {
	isGradient
	Of positionRows[F]
	R  int
}

func (positionRowsBackward[F]) spec() (string, []arg) {
	return "PositionRowsBackward", []arg{{name: "start", integer: true}, {name: "dy"}}
}

func (o positionRowsBackward[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	return tensor.Shape{o.R, last(in[1])}, nil
}

func (o positionRowsBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	from, err := o.Of.from(in[0], o.R, last(out.Shape()))
	if err != nil {
		return err
	}
	dw, dy := floats[F](out), floats[F](in[1])
	clear(dw[:from])
	clear(dw[from+copy(dw[from:], dy):])
	return nil
}
