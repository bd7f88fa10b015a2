package graph

import (
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// fusedBackward computes the gradients of all inputs that have one, one after the
// other in a vector.
type fusedBackward struct{ fused }

func (o fusedBackward) spec() (string, []arg) {
	return "FusedAttentionBackward", o.args(arg{name: "both"}, arg{name: "dout"})
}

func (o fusedBackward) shape(in []tensor.Shape) (tensor.Shape, error) {
	n := 0
	for i, x := range o.in {
		if x.differentiated() {
			n += in[i].TotalSize()
		}
	}
	return tensor.Shape{n}, nil
}

func (o fusedBackward) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, fusedBackwardForward[float32], fusedBackwardForward[float64])(o, out, in)
}

func fusedBackwardForward[F kernel.Float](o fusedBackward, out *tensor.Dense, in []*tensor.Dense) error {
	a, err := o.bind(in)
	if err != nil {
		return err
	}
	rest, both, dout := floats[F](out), floats[F](in[len(in)-2]), floats[F](in[len(in)-1])
	var grad kernel.QKV[F]
	for i, x := range o.in {
		if x.differentiated() {
			n := in[i].Shape().TotalSize()
			give(o.fused, &grad, x.role, rest[:n:n])
			rest = rest[n:]
		}
	}
	n := len(dout)
	kernel.AttentionBackward(&a, grad, dout, both[:n], both[n:], numbers[F](o.fused, in))
	return nil
}

func (o fusedBackward) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return noSecond(o) }
