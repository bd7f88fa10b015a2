package graph

import (
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// DecayGate returns −exp(rate)⊙softplus(x + bias) for x (…, N), rate (N) and bias (N): the logarithms of decays
// between 0 and 1, as of Mamba-2's and Gated DeltaNet's A_log and dt_bias. With log 1/16 for the rate and no bias it is
// GLA's log sigmoid(−x)/16.
func DecayGate(x, rate, bias *G.Node) (*G.Node, error) {
	return applyTyped(decayGate[float32]{}, decayGate[float64]{}, x, rate, bias)
}

type decayGate[F kernel.Float] struct{}

func (decayGate[F]) spec() (string, []arg) { return "DecayGate", named("x", "rate", "bias") }

func (decayGate[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	x := in[0]
	if x.Dims() == 0 {
		return nil, &ShapeError{"DecayGate", "x", x, "(…, N)"}
	}
	for i, name := range []string{"rate", "bias"} {
		if !slices.Equal(in[1+i], tensor.Shape{last(x)}) {
			return nil, &ShapeError{"DecayGate", name, in[1+i], fmt.Sprintf("(N=%d)", last(x))}
		}
	}
	return x.Clone(), nil
}

func (decayGate[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	kernel.DecayGate(dense.Floats[F](out), dense.Floats[F](in[0]), dense.Floats[F](in[1]), dense.Floats[F](in[2]))
	return nil
}

// y = −exp(rate)⊙softplus(u), u = x + bias:  dx = −dy⊙exp(rate)⊙sigmoid(u), drate = Σ dy⊙y, dbias = Σ dx.
func (decayGate[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	grads, err := apply(decayGateBackward[F]{}, append(slices.Clone(in), dy)...)
	if err != nil {
		return nil, err
	}
	return unpack(grads, in)
}

// decayGateBackward computes dx, drate and dbias, one after the other in a vector.
type decayGateBackward[F kernel.Float] struct{ isGradient }

func (decayGateBackward[F]) spec() (string, []arg) {
	return "DecayGateBackward", named("x", "rate", "bias", "dy")
}

func (decayGateBackward[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	return tensor.Shape{in[0].TotalSize() + 2*last(in[0])}, nil
}

func (decayGateBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	grads, x, rate := dense.Floats[F](out), dense.Floats[F](in[0]), dense.Floats[F](in[1])
	n := len(x)
	kernel.DecayGateBackward(grads[:n], grads[n:n+len(rate)], grads[n+len(rate):], dense.Floats[F](in[3]), x, rate,
		dense.Floats[F](in[2]))
	return nil
}
