package graph

import (
	"fmt"

	"attention/internal/dense"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// PositionRows returns T rows of a table weight (R, E), beginning with row start, as (T, E): the learned positions of T
// tokens that follow start tokens. start is an int or int64 node with 0 ≤ start ≤ R−T, which may change from run to
// run: () or, for the rows (…, T, E) of several sequences, (…, 1). Rows selects fixed rows.
func PositionRows(weight, start *G.Node, T int) (*G.Node, error) {
	in, err := checked("PositionRows", []arg{{name: "weight", stored: true}, {name: "start", integer: true}}, weight, start)
	if err != nil {
		return nil, err
	}
	ids, err := apply(positionIDs{T: T, Table: in[0].Shape().Clone()}, start)
	if err != nil {
		return nil, err
	}
	return Embedding(weight, ids)
}

// positionIDs returns the indices of T rows of a table from start. It is an op because no other op computes with
// integers.
type positionIDs struct {
	indices
	T     int
	Table tensor.Shape
}

func (positionIDs) spec() spec {
	return spec{name: "PositionRows", args: []arg{{name: "start", integer: true}}, integers: true}
}

func (o positionIDs) shape(in []tensor.Shape) (tensor.Shape, error) {
	start := in[0]
	if o.Table.Dims() != 2 {
		return nil, &ShapeError{"PositionRows", "weight", o.Table, "(R, E)"}
	}
	if !start.IsScalar() && (start.Dims() < 2 || last(start) != 1) {
		return nil, &ShapeError{"PositionRows", "start", start, "() or (…, 1)"}
	}
	if o.T < 1 || o.T > o.Table[0] {
		return nil, fmt.Errorf("graph: PositionRows: T: got %d, want 1 <= T <= R=%d", o.T, o.Table[0])
	}
	if start.IsScalar() {
		return tensor.Shape{o.T}, nil
	}
	return append(start[:len(start)-1].Clone(), o.T), nil
}

func (o positionIDs) forward(out *tensor.Dense, in []*tensor.Dense) error {
	ids, most := out.Ints(), int64(o.Table[0]-o.T)
	for i, s := range dense.Ints(in[0]) {
		if s < 0 || s > most {
			return fmt.Errorf("graph: PositionRows: start: got %d for T=%d rows, want 0 <= start <= R−T=%d", s, o.T, most)
		}
		for t := range o.T {
			ids[i*o.T+t] = int(s) + t
		}
	}
	return nil
}
