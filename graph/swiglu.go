package graph

import (
	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// SwiGLU returns SiLU(gate)⊙up, for gate and up of one shape. It joins the two inner
// projections of a gated feed-forward layer (Shazeer 2020).
func SwiGLU(gate, up *G.Node) (*G.Node, error) {
	return applyTyped(swiGLU[float32]{}, swiGLU[float64]{}, gate, up)
}

type swiGLU[F kernel.Float] struct{}

func (swiGLU[F]) spec() (string, []arg) { return "SwiGLU", named("gate", "up") }

func (swiGLU[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	return in[0].Clone(), checkSameShape("SwiGLU", "up", in)
}

func (swiGLU[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	kernel.SwiGLU(dense.Floats[F](out), dense.Floats[F](in[0]), dense.Floats[F](in[1]))
	return nil
}

// y = SiLU(gate)⊙up:  dgate = dy⊙up⊙SiLU′(gate), dup = dy⊙SiLU(gate).
func (swiGLU[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	grads, err := apply(swiGLUBackward[F]{}, in[0], in[1], dy)
	if err != nil {
		return nil, err
	}
	return unpack(grads, in)
}

// swiGLUBackward computes dgate and dup, one after the other in a vector.
type swiGLUBackward[F kernel.Float] struct{ isGradient }

func (swiGLUBackward[F]) spec() (string, []arg) {
	return "SwiGLUBackward", named("gate", "up", "dy")
}

func (swiGLUBackward[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	return tensor.Shape{2 * in[0].TotalSize()}, nil
}

func (swiGLUBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	gate, up, dy, grads := dense.Floats[F](in[0]), dense.Floats[F](in[1]), dense.Floats[F](in[2]), dense.Floats[F](out)
	kernel.SwiGLUBackward(grads[:len(gate)], grads[len(gate):], gate, up, dy)
	return nil
}
