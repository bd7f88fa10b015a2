package graph

import (
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// GRUConfig are the options of GRU.
type GRUConfig struct {
	Reverse bool // from the last token to the first
	// Lengths of the sequences, int or int64 (B); nil means T. A token behind the end does not change the state, so the
	// last state of a run is the state at the sequence's end (torch.nn.utils.rnn.pack_padded_sequence; its output behind
	// the end is 0).
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
// x ([B,] T, 3·N) holds the products of the inputs, torch's x·weight_ihᵀ + bias_ih, with the parts for r, z and n side
// by side; weight (3·N, N) and bias (3·N) are W and b, torch's weight_hh and bias_hh, with the parts for r, z and n in
// this order. h0 ([B,] N) is the state before the first token. A nil h0 or bias is 0. The result is ([B,] T, N).
func GRU(x, h0, weight, bias *G.Node, c GRUConfig) (*G.Node, error) {
	o := operands{c.Precision}
	h, _, err := applyKept(gru[float32]{o, c.Reverse}, gru[float64]{o, c.Reverse}, x, weight, h0, bias, c.Lengths)
	return h, err
}

// gru stores the gates for the backward. It is an op because a formula would have a dozen nodes for each token.
type gru[F kernel.Float] struct {
	operands
	Reverse bool
}

var gruArgs = []arg{{name: "x"}, {name: "weight"}, {name: "h0", optional: true}, {name: "bias", optional: true},
	{name: "lengths", integer: true, optional: true}}

func (o gru[F]) spec() spec {
	return spec{name: "GRU", args: gruArgs, precision: o.Precision, scratch: o.scratch}
}

func (o gru[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	x := in[0]
	if n := x.Dims(); n != 2 && n != 3 || last(x)%3 != 0 {
		return nil, &ShapeError{"GRU", "x", x, "([B,] T, 3·N)"}
	}
	batch, n := x[:x.Dims()-2], last(x)/3
	state := append(batch.Clone(), n)
	return append(x[:x.Dims()-1].Clone(), n),
		checkWanted("GRU", gruArgs[1:], in[1:], tensor.Shape{3 * n, n}, state, tensor.Shape{3 * n}, batch)
}

// sizes returns the sizes of an x.
func (o gru[F]) sizes(x tensor.Shape) kernel.GRU {
	n := x.Dims()
	return kernel.GRU{B: x[:n-2].TotalSize(), T: x[n-2], H: x[n-1] / 3, Reverse: o.Reverse, Precision: o.kernel()}
}

func (o gru[F]) keeps(in []tensor.Shape) int {
	k := o.sizes(in[0])
	return 4 * k.B * k.T * k.H
}

// scratch returns the memory for the gradients of the gates, from which those of x are computed, and for the gradient
// of a missing h0.
func (o gru[F]) scratch(in []tensor.Shape) int {
	n := in[0].TotalSize()
	if k := o.sizes(in[0]); in[2] == nil {
		n += k.B * k.H
	}
	return n
}

func (o gru[F]) compute(all vector[F], in []*tensor.Dense) error {
	k := o.sizes(in[0].Shape())
	k.Lengths = ints(in[4])
	states := all.next(k.B * k.T * k.H)
	kernel.GRUForward(k, states, all, floats[F](in[0]), floats[F](in[2]), floats[F](in[1]), floats[F](in[3]))
	return nil
}

func (o gru[F]) gradients(d vector[F], in []*tensor.Dense, all vector[F], dy []F) error {
	k := o.sizes(in[0].Shape())
	k.Lengths = ints(in[4])
	to := kernel.GRUGradients[F]{X: d.like(in[0]), Weight: d.like(in[1]), H0: d.like(in[2]), Bias: d.like(in[3])}
	to.Scratch = d.like(in[0])
	if in[2] == nil {
		to.H0 = d
	}
	states := all.next(len(dy))
	kernel.GRUBackward(k, to, dy, states, all, floats[F](in[2]), floats[F](in[1]))
	return nil
}
