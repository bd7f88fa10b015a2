package graph

import (
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// GRUConfig are the options of GRU.
type GRUConfig struct {
	Reverse bool // from the last token to the first
	// Lengths of the sequences, int or int64 (B); nil means T. A token beyond does not change the
	// state, so that the last state of a run is the one at the sequence's end
	// (torch.nn.utils.rnn.pack_padded_sequence, whose output there is 0).
	Lengths *G.Node
	// Precision of the products of weight, and of its gradient.
	Precision Precision
}

// GRU returns the states h[t] of gated recurrent units (Cho et al. 2014; torch.nn.GRU, one
// layer in one direction):
//
//	r    = σ(x_r[t] + W_r·h[t−1] + b_r)
//	z    = σ(x_z[t] + W_z·h[t−1] + b_z)
//	n    = tanh(x_n[t] + r⊙(W_n·h[t−1] + b_n))
//	h[t] = (1 − z)⊙n + z⊙h[t−1]
//
// x ([B,] T, 3·N) is the input's part, torch's x·weight_ihᵀ + bias_ih, with r, z and n side
// by side; weight (3·N, N) and bias (3·N) are W and b, torch's weight_hh and bias_hh, of r,
// z and n in turn. h0 ([B,] N) is the state before the first token. A nil h0 or bias is 0.
// The result is ([B,] T, N).
func GRU(x, h0, weight, bias *G.Node, c GRUConfig) (*G.Node, error) {
	o := gru{operands: operands{c.Precision}, H0: h0 != nil, Bias: bias != nil, Lengths: c.Lengths != nil,
		Reverse: c.Reverse}
	in := G.Nodes{x, weight}
	for _, optional := range []*G.Node{h0, bias, c.Lengths} {
		if optional != nil {
			in = append(in, optional)
		}
	}
	// As in LayerNorm: the first op computes all that the backward needs.
	all, err := applyTyped(gruForward[float32]{gru: o}, gruForward[float64]{gru: o}, in...)
	if err != nil {
		return nil, err
	}
	return applyTyped(gruOutput[float32]{gru: o}, gruOutput[float64]{gru: o}, append(in, all)...)
}

// gru is the settings of the ops of one GRU, which as a formula would have a dozen nodes for each token.
type gru struct {
	operands
	H0, Bias, Lengths, Reverse bool
}

func (o gru) args(fixed bool, more ...arg) []arg {
	args := []arg{{name: "x", fixed: fixed}, {name: "weight", fixed: fixed}}
	if o.H0 {
		args = append(args, arg{name: "h0", fixed: fixed})
	}
	if o.Bias {
		args = append(args, arg{name: "bias", fixed: fixed})
	}
	if o.Lengths {
		args = append(args, arg{name: "lengths", integer: true})
	}
	return append(args, more...)
}

// sizes checks the shapes of x, weight and the optional inputs, and returns the sizes.
func (o gru) sizes(in []tensor.Shape) (k kernel.GRU, err error) {
	x := in[0]
	if n := x.Dims(); n != 2 && n != 3 || last(x)%3 != 0 {
		return k, &ShapeError{"GRU", "x", x, "([B,] T, 3·N)"}
	}
	batch, n := x[:x.Dims()-2], last(x)/3
	wants := map[string]tensor.Shape{
		"weight": {3 * n, n}, "h0": append(slices.Clone(batch), n), "bias": {3 * n}, "lengths": batch,
	}
	for i, a := range o.args(false)[1:] {
		if want := wants[a.name]; !slices.Equal(in[i+1], want) {
			return k, &ShapeError{"GRU", a.name, in[i+1], fmt.Sprint(want)}
		}
	}
	return kernel.GRU{B: batch.TotalSize(), T: x[x.Dims()-2], H: n, Reverse: o.Reverse, Precision: o.kernel()}, nil
}

// A gruInput is the inputs' values.
type gruInput[F kernel.Float] struct {
	kernel.GRU
	x, weight, h0, bias []F
	rest                []*tensor.Dense
}

func gruInputs[F kernel.Float](o gru, in []*tensor.Dense) (v gruInput[F], err error) {
	args := o.args(false)
	if v.GRU, err = o.sizes(shapesOf(in[:len(args)])); err != nil {
		return v, err
	}
	for i, a := range args {
		switch a.name {
		case "x":
			v.x = dense.Floats[F](in[i])
		case "weight":
			v.weight = dense.Floats[F](in[i])
		case "h0":
			v.h0 = dense.Floats[F](in[i])
		case "bias":
			v.bias = dense.Floats[F](in[i])
		case "lengths":
			v.Lengths = dense.Ints(in[i])
		}
	}
	v.rest = in[len(args):]
	return v, nil
}

// gruForward computes the states, then the gates, one after the other in a vector.
type gruForward[F kernel.Float] struct {
	isGradient
	gru
}

func (o gruForward[F]) spec() spec {
	return spec{name: "GRU", args: o.args(true), precision: o.Precision}
}

func (o gruForward[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	k, err := o.sizes(in)
	return tensor.Shape{5 * k.B * k.T * k.H}, err
}

func (o gruForward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	v, err := gruInputs[F](o.gru, in)
	if err != nil {
		return err
	}
	all, n := dense.Floats[F](out), v.B*v.T*v.H
	kernel.GRUForward(v.GRU, all[:n], all[n:], v.x, v.h0, v.weight, v.bias)
	return nil
}

// gruOutput takes the states from what gruForward computed.
type gruOutput[F kernel.Float] struct {
	lastInput
	gru
}

func (o gruOutput[F]) spec() spec {
	return spec{name: "GRU", args: o.args(false, arg{name: "all", fixed: true}), view: &view{input: -1}}
}

func (o gruOutput[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	out := in[0].Clone()
	out[len(out)-1] /= 3
	return out, nil
}

func (o gruOutput[F]) backward(in G.Nodes, _, dout *G.Node) (G.Nodes, error) {
	grads, err := apply(gruBackward[F]{gru: o.gru}, append(slices.Clone(in), dout)...)
	if err != nil {
		return nil, err
	}
	return unpackRecurrent(grads, in, o.Lengths)
}

// unpackRecurrent unpacks the gradients of an op whose last input is what its forward pass keeps, after the lengths, if
// there are any: neither has a gradient.
func unpackRecurrent(grads *G.Node, in G.Nodes, lengths bool) (G.Nodes, error) {
	of := slices.Clone(in)
	of[len(of)-1] = nil
	if lengths {
		of[len(of)-2] = nil
	}
	return unpack(grads, of)
}

// gruBackward computes the gradients in the order of the inputs, one after the other in a
// vector, with scratch behind them.
type gruBackward[F kernel.Float] struct {
	isGradient
	gru
}

func (o gruBackward[F]) spec() spec {
	return spec{name: "GRUBackward", args: o.args(false, arg{name: "all"}, arg{name: "dout"})}
}

func (o gruBackward[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	k, err := o.sizes(in[:len(in)-2])
	n := 2*3*k.B*k.T*k.H + 3*k.H*k.H + k.B*k.H
	if o.Bias {
		n += 3 * k.H
	}
	return tensor.Shape{n}, err
}

func (o gruBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	v, err := gruInputs[F](o.gru, in)
	if err != nil {
		return err
	}
	vector := dense.Floats[F](out)
	take := func(n int) []F {
		part := vector[:n]
		vector = vector[n:]
		return part
	}
	var d kernel.GRUGradients[F]
	d.X, d.Weight = take(len(v.x)), take(len(v.weight))
	if o.H0 {
		d.H0 = take(v.B * v.H)
	}
	if o.Bias {
		d.Bias = take(3 * v.H)
	}
	d.Scratch = take(len(v.x))
	if !o.H0 {
		d.H0 = take(v.B * v.H)
	}
	all, n := dense.Floats[F](v.rest[0]), v.B*v.T*v.H
	kernel.GRUBackward(v.GRU, d, dense.Floats[F](v.rest[1]), all[:n], all[n:], v.h0, v.weight)
	return nil
}
