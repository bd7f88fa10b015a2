package graph

import (
	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// FusedResult is the result of a FusedAttention.
type FusedResult struct {
	Out   *G.Node         // (…, T, H·Dv); nil with Head
	Stats *AttentionStats // with Stats or Head
}

// FusedAttention returns the out of Attention, for the same arguments, from one op: tile
// by tile, with an online softmax, and never holding the (T, S) weights (FlashAttention:
// Dao et al. 2022). Its memory grows with T alone, and tiles that the mask hides cost
// nothing. Its backward computes the weights again from each row's log Σexp(score), which
// the forward keeps. A bias from Detach gets no gradient.
func FusedAttention(in FusedInputs, c AttentionConfig) (r FusedResult, err error) {
	if err := in.check(); err != nil {
		return r, err
	}
	if in.isCached() {
		r.Out, err = in.attendToCache(c)
		return r, err
	}
	a, err := in.resolve(c)
	if err != nil {
		return r, err
	}
	return a.fuse(in)
}

// fuse applies the ops of a FusedAttention. One op has one result, but the backward needs
// the rows' log-sum-exps too: the first op computes both into one vector, the second
// takes the output out of it and is the one that is differentiated.
func (a *attentionArgs) fuse(x FusedInputs) (r FusedResult, err error) {
	f, in := newFused(a, x)
	both, err := applyTyped(fusedForward[float32]{fused: f}, fusedForward[float64]{fused: f}, in...)
	if err != nil {
		return r, err
	}
	all := append(in[:len(in):len(in)], both)
	if !f.oneHead() {
		r.Out, err = applyTyped(fusedOutput[float32]{fused: f}, fusedOutput[float64]{fused: f}, all...)
	}
	if err == nil && f.Observed {
		r.Stats, err = f.statistics(all)
	}
	return r, err
}

// fusedForward computes out (…, T, H·Dv), the numbers of the rows that the kernel keeps, each (…, H, T), the
// log-sum-exps of the scores first, and, if observed, the row statistics (…, H, T), side by side in a vector.
type fusedForward[F kernel.Float] struct {
	isGradient // the output is differentiated instead
	fused
}

func (o fusedForward[F]) spec() spec {
	args := o.args()
	for i := range args {
		args[i].fixed = true
	}
	return spec{name: "FusedAttention", args: args, precision: o.Precision}
}

func (o fusedForward[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	for i, x := range o.in {
		if x.role == dropoutKey && in[i].TotalSize() != 1 {
			return nil, &ShapeError{"Dropout", "key", in[i], "()"}
		}
	}
	a, _ := o.sizes(in)
	each := a.DV + kernel.RowNumbers
	if o.Observed {
		each += rowStatistics
	}
	return tensor.Shape{a.B * a.H * a.T * each}, nil
}

func (o fusedForward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	a, err := o.bind(in)
	if err != nil {
		return err
	}
	both, n, rows := dense.Floats[F](out), a.B*a.H*a.T*a.DV, a.B*a.H*a.T
	c := kernel.AttentionCall[F]{Attention: a, In: numbers[F](o.fused, &a, in), Out: both[:n], LSE: both[n:]}
	if o.Observed {
		c.Stats = statsOf(c.LSE[kernel.RowNumbers*rows:], rows, o.Offset)
	}
	c.Forward()
	return nil
}

// fusedOutput takes out from what fusedForward computed.
type fusedOutput[F kernel.Float] struct {
	lastInput
	fused
}

func (o fusedOutput[F]) spec() spec {
	return spec{name: "FusedAttention", args: o.args(arg{name: "both", fixed: true}), view: &view{input: -1}}
}

func (o fusedOutput[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	q, _, v := o.heads(in)
	out := q.Clone()
	out[len(out)-1] = last(v) / o.KVHeads * max(o.Heads, 1)
	return out, nil
}

// With P = softmax(scores), W = dropout(P), out = W·v, D = Σ dout⊙out:
// dv = Wᵀ·dout, dbias = P⊙(dropout(dout·vᵀ) − D), dscores = slope(dbias)·scale,
// dq = dscores·k, dk = dscoresᵀ·q, dgate[i] = Σ dbias[t,s] over the t ≥ i and s < i.
// With P = sigmoid(scores): dbias = P⊙(1 − P)⊙dropout(dout·vᵀ).
func (o fusedOutput[F]) backward(in G.Nodes, _, dout *G.Node) (G.Nodes, error) {
	grads, err := apply(fusedBackward[F]{fused: o.fused}, append(append(G.Nodes{}, in...), dout)...)
	if err != nil {
		return nil, err
	}
	of := make(G.Nodes, len(in))
	for i, x := range o.in {
		if x.differentiated() {
			of[i] = in[i]
		}
	}
	return unpack(grads, of)
}

// fusedBackward computes the gradients of all inputs that have one, one after the
// other in a vector.
type fusedBackward[F kernel.Float] struct {
	isGradient
	fused
}

func (o fusedBackward[F]) spec() spec {
	return spec{name: "FusedAttentionBackward", args: o.args(arg{name: "both"}, arg{name: "dout"})}
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
	rest, both, dout := dense.Floats[F](out), dense.Floats[F](in[len(in)-2]), dense.Floats[F](in[len(in)-1])
	var grad kernel.QKV[F]
	var gates []F
	for i, x := range o.in {
		if !x.differentiated() {
			continue
		}
		n := in[i].Shape().TotalSize()
		if x.role == logGates {
			gates, grad.Forget = rest[:n:n], a.NewForgetting()
		} else {
			give(o.fused, &grad, x.role, rest[:n:n])
		}
		rest = rest[n:]
	}
	n := len(dout)
	c := kernel.AttentionCall[F]{Attention: a, In: numbers[F](o.fused, &a, in), Out: both[:n], LSE: both[n:]}
	c.Backward(grad, dout)
	if gates != nil {
		kernel.GateGradients(&a, gates, gateLayout(o.Heads > 0, a.H, a.S-a.Unbiased), grad.Forget)
	}
	return nil
}
