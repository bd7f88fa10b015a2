package graph

import (
	"fmt"
	"slices"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// SwiGLU is SiLU(gate)⊙up, for gate and up of one shape: what joins the two inner
// projections of a gated feed-forward layer (Shazeer 2020).
func SwiGLU(gate, up *G.Node) (*G.Node, error) { return apply(swiGLU{}, gate, up) }

type swiGLU struct{}

func (swiGLU) spec() (string, []arg) { return "SwiGLU", []arg{{name: "gate"}, {name: "up"}} }

func (swiGLU) shape(in []tensor.Shape) (tensor.Shape, error) {
	if !slices.Equal(in[0], in[1]) {
		return nil, &ShapeError{"SwiGLU", "up", in[1], fmt.Sprint(in[0])}
	}
	return in[0].Clone(), nil
}

func (swiGLU) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, swiGLUForward[float32], swiGLUForward[float64])(out, in)
}

func swiGLUForward[F kernel.Float](out *tensor.Dense, in []*tensor.Dense) error {
	kernel.SwiGLU(floats[F](out), floats[F](in[0]), floats[F](in[1]))
	return nil
}

// y = SiLU(gate)⊙up:  dgate = dy⊙up⊙SiLU′(gate), dup = dy⊙SiLU(gate).
func (swiGLU) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	grads, err := apply(swiGLUBackward{}, in[0], in[1], dy)
	if err != nil {
		return nil, err
	}
	return unpack(grads, in)
}

// swiGLUBackward computes dgate and dup, one after the other in a vector.
type swiGLUBackward struct{}

func (swiGLUBackward) spec() (string, []arg) {
	return "SwiGLUBackward", []arg{{name: "gate"}, {name: "up"}, {name: "dy"}}
}

func (swiGLUBackward) shape(in []tensor.Shape) (tensor.Shape, error) {
	return tensor.Shape{2 * in[0].TotalSize()}, nil
}

func (swiGLUBackward) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, swiGLUBackwardForward[float32], swiGLUBackwardForward[float64])(out, in)
}

func swiGLUBackwardForward[F kernel.Float](out *tensor.Dense, in []*tensor.Dense) error {
	gate, up, dy, grads := floats[F](in[0]), floats[F](in[1]), floats[F](in[2]), floats[F](out)
	kernel.SwiGLUBackward(grads[:len(gate)], grads[len(gate):], gate, up, dy)
	return nil
}

func (o swiGLUBackward) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return noSecond(o) }
