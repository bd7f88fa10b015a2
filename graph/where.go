package graph

import (
	"sync"

	"attention/internal/dense"
	"attention/internal/expr"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Where returns x where condition holds and y elsewhere (torch.where), the three broadcast as in Add. The condition is
// a node of bools, integers or floats; any number except 0 is true.
func Where(condition, x, y *G.Node) (*G.Node, error) {
	return choose(named("condition", "x", "y"), condition, x, y)
}

// whereNotZero returns x where condition is not 0, and 0 elsewhere.
func whereNotZero(condition, x *G.Node) (*G.Node, error) {
	return choose(named("condition", "x"), condition, x, nil)
}

// choose applies the op to the arguments with these names; the others are nil.
func choose(args []arg, condition, x, y *G.Node) (*G.Node, error) {
	args[0] = whereArgs[0]
	in := G.Nodes{condition, x, y}
	if len(args) == 2 && x == nil {
		in = G.Nodes{condition, y}
	}
	reads, out, err := readTogether("Where", args, in[:len(args)]...)
	if err != nil {
		return nil, err
	}
	o := outShape{out}
	return applyTyped(where[float32]{o, reads}, where[float64]{o, reads}, condition, x, y)
}

// where is the op z = x where the condition holds, z = y elsewhere; a missing x or y counts as 0. It is an op because a
// product with 0 and 1 would turn NaN and ∞ that are not chosen into NaN.
type where[F kernel.Float] struct {
	outShape
	Reads kernel.Broadcast // whether the condition, x and y are inputs
}

var whereArgs = []arg{{name: "condition", anyNumber: true, fixed: true}, {name: "x", optional: true},
	{name: "y", optional: true}}

func (o where[F]) spec() spec { return spec{name: "Where", args: whereArgs} }

func (o where[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	room := conditions.Get().(*[]bool)
	defer conditions.Put(room)
	holds, _ := dense.NotZero(in[0], *room)
	if in[0].Dtype() != tensor.Bool {
		*room = holds
	}
	kernel.Select(dense.Floats[F](out), holds, floats[F](in[1]), floats[F](in[2]), o.Reads)
	return nil
}

// conditions is a pool of bool slices.
var conditions = sync.Pool{New: func() any { return new([]bool) }}

// dx = dz where the condition holds, dy = dz elsewhere, otherwise 0; both are summed over the axes that were repeated.
func (o where[F]) backward(in G.Nodes, _, dz *G.Node) (G.Nodes, error) {
	var f expr.Formula
	d := make(G.Nodes, len(in))
	if in[1] != nil {
		d[1] = f.Of(sumTo(f.Of(whereNotZero(in[0], dz)), in[1].Shape()))
	}
	if in[2] != nil {
		d[2] = f.Of(sumTo(f.Of(choose(named("condition", "dz"), in[0], nil, dz)), in[2].Shape()))
	}
	return d, f.Err()
}
