package graph

import (
	"fmt"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// CausalConv returns a convolution along the tokens, separate for each channel, in which a token sees itself and the
// N−1 tokens before it: y[t] = bias + Σ weight[i]⊙x[t−N+1+i] for x ([B,] T, C), weight (C, 1, N) as torch.nn.Conv1d
// with groups C has it, or (C, N), and bias (C). state ([B,] N−1, C) holds the tokens before the first. A nil bias or
// state is 0.
func CausalConv(x, weight, bias, state *G.Node) (*G.Node, error) {
	return applyTyped(causalConv[float32]{}, causalConv[float64]{}, x, weight, bias, state)
}

// causalConv computes all channels in one pass. It is an op because a formula of products and sums of shifted x takes
// 1.7 times as long and 11 times the memory (BenchmarkFormulas/CausalConv).
type causalConv[F kernel.Float] struct{}

var convArgs = []arg{{name: "x"}, {name: "weight"}, {name: "bias", optional: true}, {name: "state", optional: true}}

func (causalConv[F]) spec() spec { return spec{name: "CausalConv", args: convArgs} }

func (causalConv[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	x, w := in[0], in[1]
	if n := x.Dims(); n != 2 && n != 3 {
		return nil, &ShapeError{"CausalConv", "x", x, "([B,] T, C)"}
	}
	channels := last(x)
	if n := w.Dims(); n != 2 && n != 3 || w[0] != channels || n == 3 && w[1] != 1 {
		return nil, &ShapeError{"CausalConv", "weight", w, fmt.Sprintf("(C=%d, 1, N) or (C=%[1]d, N)", channels)}
	}
	state := append(x[:x.Dims()-2].Clone(), last(w)-1, channels)
	return x.Clone(), checkWanted("CausalConv", convArgs[2:], in[2:], tensor.Shape{channels}, state)
}

// convSizes returns the sizes for checked shapes.
func convSizes(x, weight tensor.Shape) kernel.CausalConv {
	n := x.Dims()
	return kernel.CausalConv{B: x[:n-2].TotalSize(), T: x[n-2], C: x[n-1], N: last(weight)}
}

// convOperands returns the inputs' values.
func convOperands[F kernel.Float](in []*tensor.Dense) kernel.ConvOperands[F] {
	return kernel.ConvOperands[F]{X: floats[F](in[0]), Weight: floats[F](in[1]), Bias: floats[F](in[2]),
		State: floats[F](in[3])}
}

func (causalConv[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	c := convSizes(in[0].Shape(), in[1].Shape())
	kernel.CausalConvForward(c, dense.Floats[F](out), convOperands[F](in))
	return nil
}

func (o causalConv[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	return gradientsOf[F](o, in, dy)
}

// dx[t] = Σ weight[i]⊙dy[t+N−1−i], dweight[i] = Σ x[t−N+1+i]⊙dy[t], dbias = Σ dy[t].
func (causalConv[F]) gradients(d vector[F], in []*tensor.Dense, _ vector[F], dy []F) error {
	c := convSizes(in[0].Shape(), in[1].Shape())
	grad := kernel.ConvOperands[F]{X: d.like(in[0]), Weight: d.like(in[1]), Bias: d.like(in[2]), State: d.like(in[3])}
	kernel.CausalConvBackward(c, grad, dy, convOperands[F](in))
	return nil
}
