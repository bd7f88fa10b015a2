package stock

import (
	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
)

// reshape returns the op whose result is its input in another shape. It computes only if one of the two is a scalar,
// because in Gorgonia a scalar is not a tensor.
func reshape[F kernel.Float](c call) *Op {
	switch {
	case !sameSize(c.node, c.in[0]):
		return nil
	case !c.node.Shape().IsScalar() && !c.in[0].Shape().IsScalar():
		return &Op{by: Nothing}
	}
	return computes(Loop, nil, func(y []F, x [][]F) { copy(y, x[0]) })
}

// constant returns the op of a value that is known before any run.
func constant(c call) *Op { return known(c.node.Value()) }

// size returns the op whose value is the length of an axis of its input: "SizeOf=length".
func size(c call) *Op {
	length := 1
	if !c.in[0].Shape().IsScalar() {
		all, _ := integers(c.text, "SizeOf=", " ", "")
		if len(all) != 1 {
			return nil
		}
		length = all[0]
	}
	dt := c.node.Dtype()
	if !dense.IsFloat(dt) {
		return nil
	}
	return known(dense.ByType[G.Value](dt, G.NewF32(float32(length)), G.NewF64(float64(length))))
}

func known(v G.Value) *Op { return &Op{by: Nothing, view: -1, value: v} }
