package graph

import (
	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// fusedBackward computes the gradients of all inputs that have one, one after the
// other in a vector.
type fusedBackward[F kernel.Float] struct {
	isGradient
	fused
}

func (o fusedBackward[F]) spec() (string, []arg) {
	return "FusedAttentionBackward", o.args(arg{name: "both"}, arg{name: "dout"})
}

func (o fusedBackward[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	n := 0
	for i, x := range o.in {
		if x.differentiated() {
			n += in[i].TotalSize()
		}
	}
	return tensor.Shape{n}, nil
}

func (o fusedBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
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
