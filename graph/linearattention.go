package graph

import (
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// LinearAttentionConfig are the options of LinearAttention.
type LinearAttentionConfig struct {
	Heads   int     // H, heads that lie side by side in q; 0 means 1
	KVHeads int     // K, heads that lie side by side in k and v, each with a state that H/K heads of q read; 0 means H
	Scale   float64 // of the outputs; 0 means 1/√D

	// Decay is the logarithm g of what is left of the state at each token: ([B,] T, K) of a head (retention: Sun et al.
	// 2023; Mamba-2), or ([B,] T, K·D) of each channel of its keys (GLA: Yang et al. 2023). Nil means 0: nothing
	// decays.
	Decay *G.Node
	// Beta ([B,] T, K) makes it the delta rule: how much of what the state has for a key the token's value replaces.
	// Keys should have the length 1, and Beta is between 0 and 1, or 2. Nil means the values are added.
	Beta *G.Node

	State   *G.Node // ([B,] K, D, Dv), before the first token; nil means 0
	Lengths *G.Node // of the sequences, int or int64 (B); nil means T. Tokens beyond change nothing; their output is 0.

	Precision Precision // of the products of a chunk
}

// LinearAttention returns attention without a softmax, which reads a state S (D, Dv) of each head in place of all keys
// and values (Katharopoulos et al. 2020): q is ([B,] T, H·D), k ([B,] T, K·D), v ([B,] T, K·Dv), out ([B,] T, H·Dv).
// In ONNX' words, with g of Decay and β of Beta:
//
//	S[t] = S[t−1] + k[t]⊗v[t]                                            linear
//	S[t] = exp(g[t])⊙S[t−1] + k[t]⊗v[t]                                  gated
//	S[t] = S[t−1] + β[t]·k[t]⊗(v[t] − S[t−1]ᵀ·k[t])                      delta (DeltaNet: Yang et al. 2024)
//	S[t] = exp(g[t])⊙S[t−1] + β[t]·k[t]⊗(v[t] − (exp(g[t])⊙S[t−1])ᵀ·k[t])  gated_delta (Gated DeltaNet)
//	out[t] = Scale·S[t]ᵀ·q[t]
//
// state ([B,] K, D, Dv) is the one after the last token; no gradient flows into it.
//
// Time and memory grow as T: tokens are taken in chunks, and of each chunk the backward keeps the state before it. No
// exponential of a sum or a difference of decays is taken, so that any decay is exact.
func LinearAttention(q, k, v *G.Node, c LinearAttentionConfig) (out, state *G.Node, err error) {
	o, in, err := c.resolve("LinearAttention", q, k, v)
	if err != nil {
		return nil, nil, err
	}
	// As in GRU: the first op computes all that the backward needs.
	all, err := applyTyped(linearForward[float32]{linear: o}, linearForward[float64]{linear: o}, in...)
	if err != nil {
		return nil, nil, err
	}
	out, err = applyTyped(linearOutput[float32]{linear: o}, linearOutput[float64]{linear: o}, append(in, all)...)
	if err != nil {
		return nil, nil, err
	}
	sizes, err := o.sizes(shapesOf(in))
	if err != nil {
		return nil, nil, err
	}
	last := slices.Concat(q.Shape()[:q.Dims()-2], tensor.Shape{sizes.K, sizes.D, sizes.DV})
	from := all.Shape()[0] - last.TotalSize()
	state, err = apply(linearState{outShape: outShape{last}, From: from}, all)
	return out, state, err
}

// linearInputs returns the sizes and the inputs' values, and what follows them.
func linearInputs[F kernel.Float](o linear, in []*tensor.Dense) (
	l kernel.LinearAttention, x kernel.LinearOperands[F], rest []*tensor.Dense, err error,
) {
	args := o.args(false)
	if l, err = o.sizes(shapesOf(in[:len(args)])); err != nil {
		return l, x, nil, err
	}
	for i, a := range args {
		if a.integer {
			l.Lengths = dense.Ints(in[i])
			continue
		}
		*linearOperand(&x, a.name) = dense.Floats[F](in[i])
	}
	return l, x, in[len(args):], nil
}

// linearOperand returns the operand of an argument.
func linearOperand[F kernel.Float](x *kernel.LinearOperands[F], name string) *[]F {
	return map[string]*[]F{"q": &x.Q, "k": &x.K, "v": &x.V, "decay": &x.Decay, "beta": &x.Beta, "state": &x.State}[name]
}

// linearForward computes the outputs, then the states before each chunk and the last, one after the other in a vector.
type linearForward[F kernel.Float] struct {
	isGradient
	linear
}

func (o linearForward[F]) spec() spec {
	return spec{name: o.Op, args: o.args(true), precision: o.Precision}
}

func (o linearForward[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	l, err := o.sizes(in)
	if err != nil {
		return nil, err
	}
	return tensor.Shape{l.B*l.T*l.H*l.DV + l.States()*l.B*l.K*l.D*l.DV}, nil
}

func (o linearForward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	l, x, _, err := linearInputs[F](o.linear, in)
	if err != nil {
		return err
	}
	all, n := dense.Floats[F](out), l.B*l.T*l.H*l.DV
	kernel.LinearForward(l, all[:n], all[n:], x)
	return nil
}

// linearOutput takes the outputs from what linearForward computed.
type linearOutput[F kernel.Float] struct {
	lastInput
	linear
}

func (o linearOutput[F]) spec() spec {
	return spec{name: o.Op, args: o.args(false, arg{name: "all", fixed: true}), view: &view{input: -1}}
}

func (o linearOutput[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	l, err := o.sizes(in[:len(in)-1])
	if err != nil {
		return nil, err
	}
	out := in[0].Clone()
	out[len(out)-1] = l.H * l.DV
	return out, nil
}

func (o linearOutput[F]) backward(in G.Nodes, _, dout *G.Node) (G.Nodes, error) {
	grads, err := apply(linearBackward[F]{linear: o.linear}, append(slices.Clone(in), dout)...)
	if err != nil {
		return nil, err
	}
	return unpackRecurrent(grads, in, o.Lengths)
}

// linearBackward computes the gradients in the order of the inputs, one after the other in a vector.
type linearBackward[F kernel.Float] struct {
	isGradient
	linear
}

func (o linearBackward[F]) spec() spec {
	return spec{name: o.Op + "Backward", args: o.args(false, arg{name: "all"}, arg{name: "dout"})}
}

func (o linearBackward[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	n := 0
	for i, a := range o.args(false) {
		if !a.integer {
			n += in[i].TotalSize()
		}
	}
	return tensor.Shape{n}, nil
}

func (o linearBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	l, x, rest, err := linearInputs[F](o.linear, in)
	if err != nil {
		return err
	}
	var grad kernel.LinearOperands[F]
	vector := dense.Floats[F](out)
	for i, a := range o.args(false) {
		if !a.integer {
			n := in[i].Shape().TotalSize()
			*linearOperand(&grad, a.name), vector = vector[:n:n], vector[n:]
		}
	}
	states := dense.Floats[F](rest[0])[l.B*l.T*l.H*l.DV:]
	kernel.LinearBackward(l, grad, dense.Floats[F](rest[1]), states, x)
	return nil
}

// linearState takes the last state from what linearForward computed.
type linearState struct {
	passesNone
	outShape
	From int
}

func (o linearState) spec() spec {
	return spec{name: "LinearAttentionState", args: []arg{{name: "all", fixed: true}}, view: &view{from: o.From}}
}

func (o linearState) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return copyFrom(out, in[0], o.From)
}
