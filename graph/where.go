package graph

import (
	"sync"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Where returns x where condition holds and y elsewhere (torch.where), the three broadcast
// as in Add. The condition is a node of bools, integers or floats; any number but 0 holds.
func Where(condition, x, y *G.Node) (*G.Node, error) {
	reads, out, err := readTogether("Where", []arg{conditionArg, {name: "x"}, {name: "y"}}, condition, x, y)
	if err != nil {
		return nil, err
	}
	c := choice{outShape: outShape{out}, X: true, Y: true, Reads: reads}
	return applyTyped(where[float32]{c}, where[float64]{c}, condition, x, y)
}

// whereNotZero returns x where condition is not 0, and 0 elsewhere.
func whereNotZero(condition, x *G.Node) (*G.Node, error) {
	reads, out, err := readTogether("Where", []arg{conditionArg, {name: "x"}}, condition, x)
	if err != nil {
		return nil, err
	}
	c := choice{outShape: outShape{out}, X: true, Reads: reads}
	return applyTyped(where[float32]{c}, where[float64]{c}, condition, x)
}

var conditionArg = arg{name: "condition", anyNumber: true, fixed: true}

// choice is z = x where the condition holds, z = y elsewhere; without x or y there is 0 in
// its place.
type choice struct {
	outShape
	X, Y  bool
	Reads kernel.Broadcast // the condition, and x and y if they are inputs
}

type where[F kernel.Float] struct{ choice }

func (o where[F]) spec() spec {
	args := []arg{conditionArg}
	if o.X {
		args = append(args, arg{name: "x"})
	}
	if o.Y {
		args = append(args, arg{name: "y"})
	}
	return spec{name: "Where", args: args}
}

func (o where[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	var x, y []F
	if o.X {
		x = dense.Floats[F](in[1])
	}
	if o.Y {
		y = dense.Floats[F](in[len(in)-1])
	}
	room := conditions.Get().(*[]bool)
	defer conditions.Put(room)
	holds, _ := dense.NotZero(in[0], *room)
	if in[0].Dtype() != tensor.Bool {
		*room = holds
	}
	kernel.Select(dense.Floats[F](out), holds, x, y, o.Reads)
	return nil
}

// conditions are pooled conditions of bools.
var conditions = sync.Pool{New: func() any { return new([]bool) }}

// dx = dz where the condition holds, dy = dz elsewhere, 0 else, summed over the axes that
// were repeated.
func (o where[F]) backward(in G.Nodes, _, dz *G.Node) (G.Nodes, error) {
	d := make(G.Nodes, len(in))
	for i := 1; i < len(in); i++ {
		reads, out, err := readTogether("Where", []arg{conditionArg, {name: "dz"}}, in[0], dz)
		if err != nil {
			return nil, err
		}
		isX := o.X && i == 1
		part, err := apply(where[F]{choice{outShape: outShape{out}, X: isX, Y: !isX, Reads: reads}}, in[0], dz)
		if err != nil {
			return nil, err
		}
		if d[i], err = sumTo(part, in[i].Shape()); err != nil {
			return nil, err
		}
	}
	return d, nil
}
