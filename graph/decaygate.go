package graph

import (
	"fmt"
	"slices"

	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// DecayGate returns −exp(rate)⊙softplus(x + bias) for x (…, N), rate (N) and bias (N): the logarithms of decays
// between 0 and 1, as of Mamba-2's and Gated DeltaNet's A_log and dt_bias. With log 1/16 for the rate and no bias it is
// GLA's log sigmoid(−x)/16.
func DecayGate(x, rate, bias *G.Node) (*G.Node, error) {
	names := []string{"x", "rate", "bias"}
	in, err := checked("DecayGate", named(names...), x, rate, bias)
	if err != nil {
		return nil, err
	}
	s := in[0].Shape()
	if s.Dims() == 0 {
		return nil, &ShapeError{"DecayGate", "x", s, "(…, N)"}
	}
	for i, n := range in[1:] {
		if !slices.Equal(n.Shape(), tensor.Shape{last(s)}) {
			return nil, &ShapeError{"DecayGate", names[1+i], n.Shape(), fmt.Sprintf("(N=%d)", last(s))}
		}
	}
	var f expr.Formula
	u := f.Of(Add(in[0], in[2]))
	logs := f.Of(LogSigmoid(f.Of(Scale(u, -1)))) // log σ(−u) = −softplus(u)
	return f.Result(f.Of(Mul(logs, f.Of(Exp(in[1])))))
}
