package graph

import (
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// CausalConv returns a convolution along the tokens of each channel alone, in which a token sees itself and the N−1
// before it: y[t] = bias + Σ weight[i]⊙x[t−N+1+i] for x ([B,] T, C), weight (C, 1, N), torch.nn.Conv1d's with groups C,
// or (C, N), and bias (C). state ([B,] N−1, C) holds the tokens before the first. A nil bias or state is 0.
func CausalConv(x, weight, bias, state *G.Node) (*G.Node, error) {
	o := causalConv{Bias: bias != nil, State: state != nil}
	in := G.Nodes{x, weight}
	for _, optional := range []*G.Node{bias, state} {
		if optional != nil {
			in = append(in, optional)
		}
	}
	return applyTyped(causalConvolution[float32]{o}, causalConvolution[float64]{o}, in...)
}

// causalConv is the settings of the ops of one CausalConv.
type causalConv struct{ Bias, State bool }

func (o causalConv) args(more ...arg) []arg {
	args := named("x", "weight")
	if o.Bias {
		args = append(args, arg{name: "bias"})
	}
	if o.State {
		args = append(args, arg{name: "state"})
	}
	return append(args, more...)
}

// sizes checks the shapes of the arguments and returns the sizes.
func (o causalConv) sizes(in []tensor.Shape) (c kernel.CausalConv, err error) {
	x, w := in[0], in[1]
	bad := func(arg string, got tensor.Shape, want string, values ...any) error {
		return &ShapeError{"CausalConv", arg, got, fmt.Sprintf(want, values...)}
	}
	if n := x.Dims(); n != 2 && n != 3 {
		return c, bad("x", x, "([B,] T, C)")
	}
	channels := last(x)
	if n := w.Dims(); n != 2 && n != 3 || w[0] != channels || n == 3 && w[1] != 1 {
		return c, bad("weight", w, "(C=%d, 1, N) or (C=%d, N)", channels, channels)
	}
	batch := x[:x.Dims()-2]
	c = kernel.CausalConv{B: batch.TotalSize(), T: x[x.Dims()-2], C: channels, N: last(w)}
	wants := map[string]tensor.Shape{"bias": {channels}, "state": append(batch.Clone(), c.N-1, channels)}
	for i, a := range o.args()[2:] {
		if want := wants[a.name]; !slices.Equal(in[2+i], want) {
			return c, bad(a.name, in[2+i], "%v", want)
		}
	}
	return c, nil
}

// convInputs returns the sizes and the inputs' values.
func convInputs[F kernel.Float](o causalConv, in []*tensor.Dense) (kernel.CausalConv, kernel.ConvOperands[F], error) {
	c, err := o.sizes(shapesOf(in))
	x := kernel.ConvOperands[F]{}
	for i, a := range o.args() {
		*convOperand(&x, a.name) = dense.Floats[F](in[i])
	}
	return c, x, err
}

// convOperand returns the operand of an argument.
func convOperand[F kernel.Float](x *kernel.ConvOperands[F], name string) *[]F {
	return map[string]*[]F{"x": &x.X, "weight": &x.Weight, "bias": &x.Bias, "state": &x.State}[name]
}

type causalConvolution[F kernel.Float] struct{ causalConv }

func (o causalConvolution[F]) spec() spec { return spec{name: "CausalConv", args: o.args()} }

func (o causalConvolution[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	_, err := o.sizes(in)
	return in[0].Clone(), err
}

func (o causalConvolution[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	c, x, err := convInputs[F](o.causalConv, in)
	if err != nil {
		return err
	}
	kernel.CausalConvForward(c, dense.Floats[F](out), x)
	return nil
}

// dx[t] = Σ weight[i]⊙dy[t+N−1−i], dweight[i] = Σ x[t−N+1+i]⊙dy[t], dbias = Σ dy[t].
func (o causalConvolution[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	grads, err := apply(causalConvBackward[F]{causalConv: o.causalConv}, append(slices.Clone(in), dy)...)
	if err != nil {
		return nil, err
	}
	return unpack(grads, in)
}

// causalConvBackward computes the gradients in the order of the inputs, one after the other in a vector.
type causalConvBackward[F kernel.Float] struct {
	isGradient
	causalConv
}

func (o causalConvBackward[F]) spec() spec {
	return spec{name: "CausalConvBackward", args: o.args(arg{name: "dy"})}
}

func (o causalConvBackward[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	n := 0
	for _, s := range in[:len(in)-1] {
		n += s.TotalSize()
	}
	return tensor.Shape{n}, nil
}

func (o causalConvBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	c, x, err := convInputs[F](o.causalConv, in[:len(in)-1])
	if err != nil {
		return err
	}
	var grad kernel.ConvOperands[F]
	vector := dense.Floats[F](out)
	for i, a := range o.args() {
		n := in[i].Shape().TotalSize()
		*convOperand(&grad, a.name), vector = vector[:n:n], vector[n:]
	}
	kernel.CausalConvBackward(c, grad, dense.Floats[F](in[len(in)-1]), x)
	return nil
}
