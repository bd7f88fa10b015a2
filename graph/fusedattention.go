package graph

import (
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// FusedAttention is the out of Attention, for the same arguments, in one op: tile
// by tile, with an online softmax, and never holding the (T, S) weights
// (FlashAttention: Dao et al. 2022). Its memory grows with T alone, and tiles that
// the mask hides cost nothing. Its backward makes the weights again from each row's
// log Σexp(score), which the forward keeps.
func FusedAttention(q, k, v *G.Node, c AttentionConfig) (*G.Node, error) {
	c, err := c.resolve("FusedAttention", q, k, v)
	if err != nil {
		return nil, err
	}
	f := fused{Heads: max(c.Heads, 1), KVHeads: c.KVHeads, Scale: c.Scale, Mask: c.Mask, P: c.Dropout.P, Site: c.Dropout.Site}
	args := G.Nodes{q, k, v}
	if f.P > 0 {
		args = append(args, c.Dropout.Key)
	}
	// One op has one result, but the backward needs the rows' log-sum-exps too: the
	// first op computes both into one vector, the second takes the output out of it
	// and is the one that is differentiated.
	both, err := apply(fusedForward{f}, args...)
	if err != nil {
		return nil, err
	}
	return apply(fusedOutput{f}, append(args, both)...)
}

// fused is what the ops of one FusedAttention have in common.
type fused struct {
	Heads, KVHeads int
	Scale          float64
	Mask           Mask
	P              float64
	Site           int
}

// args are q, k, v and, with dropout, its key, then more.
func (f fused) args(fixed bool, more ...arg) []arg {
	args := []arg{{name: "q", fixed: fixed}, {name: "k", fixed: fixed}, {name: "v", fixed: fixed}}
	if f.P > 0 {
		args = append(args, arg{name: "key", integer: true})
	}
	return append(args, more...)
}

// sizes are the kernel's view of q, k and v, all leading axes taken as one batch.
func (f fused) sizes(q, k, v tensor.Shape) kernel.Attention {
	n := len(q)
	t, s, d, dv := q[n-2], k[n-2], q[n-1]/f.Heads, v[n-1]/f.KVHeads
	a := kernel.Attention{B: q[:n-2].TotalSize(), H: f.Heads, K: f.KVHeads, T: t, S: s, D: d, DV: dv, Scale: f.Scale,
		QueryAt: kernel.HeadsInRow(f.Heads, t, d), KeyAt: kernel.HeadsInRow(f.KVHeads, s, d),
		ValueAt: kernel.HeadsInRow(f.KVHeads, s, dv), OutputAt: kernel.HeadsInRow(f.Heads, t, dv)}
	a.Visible = func(_, t int) (lo, hi int) { return f.Mask.keys(t, s) }
	return a
}

// attention is sizes for tensors at run time, with the dropout's key.
func (f fused) attention(in []*tensor.Dense) kernel.Attention {
	a := f.sizes(in[0].Shape(), in[1].Shape(), in[2].Shape())
	if f.P > 0 {
		a.Dropout = kernel.WeightDropout{P: f.P, Key: ints(in[3])[0], Site: f.Site}
	}
	return a
}

func qkv[F kernel.Float](in []*tensor.Dense) kernel.QKV[F] {
	return kernel.QKV[F]{Q: floats[F](in[0]), K: floats[F](in[1]), V: floats[F](in[2])}
}

// fusedForward computes out (…, T, H·Dv) and the log-sum-exps (…, H, T) of the
// scores, one after the other in a vector.
type fusedForward struct{ fused }

func (o fusedForward) spec() (string, []arg) { return "FusedAttention", o.args(true) }

func (o fusedForward) shape(in []tensor.Shape) (tensor.Shape, error) {
	a := o.sizes(in[0], in[1], in[2])
	return tensor.Shape{a.B * a.H * a.T * (a.DV + 1)}, o.checkKey(in)
}

func (f fused) checkKey(in []tensor.Shape) error {
	if f.P > 0 && in[3].TotalSize() != 1 {
		return &ShapeError{"Dropout", "key", in[3], "()"}
	}
	return nil
}

func (o fusedForward) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, fusedForwardForward[float32], fusedForwardForward[float64])(o, out, in)
}

func fusedForwardForward[F kernel.Float](o fusedForward, out *tensor.Dense, in []*tensor.Dense) error {
	a := o.attention(in)
	both, n := floats[F](out), a.B*a.H*a.T*a.DV
	kernel.AttentionForward(&a, both[:n], both[n:], qkv[F](in))
	return nil
}

func (o fusedForward) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return noSecond(o) }

// fusedOutput takes out from what fusedForward computed.
type fusedOutput struct{ fused }

func (o fusedOutput) spec() (string, []arg) {
	return "FusedAttention", o.args(false, arg{name: "both", fixed: true})
}

func (o fusedOutput) shape(in []tensor.Shape) (tensor.Shape, error) {
	out := in[0].Clone()
	out[len(out)-1] = last(in[2]) / o.KVHeads * o.Heads
	return out, nil
}

func (o fusedOutput) view(inputs int) (input, from int) { return inputs - 1, 0 }

func (o fusedOutput) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return copyFrom(out, in[len(in)-1], 0)
}

// With P = softmax(mask(q·kᵀ)·scale), W = dropout(P), out = W·v, D = Σ dout⊙out:
// dv = Wᵀ·dout, dscores = P⊙(dropout(dout·vᵀ) − D)·scale, dq = dscores·k,
// dk = dscoresᵀ·q.
func (o fusedOutput) backward(in G.Nodes, _, dout *G.Node) (G.Nodes, error) {
	grads, err := apply(fusedBackward{o.fused}, append(append(G.Nodes{}, in...), dout)...)
	if err != nil {
		return nil, err
	}
	d, from := make(G.Nodes, len(in)), 0
	for i, x := range in[:3] {
		if d[i], err = apply(segment{from, x.Shape()}, grads); err != nil {
			return nil, err
		}
		from += x.Shape().TotalSize()
	}
	return d, nil
}

// fusedBackward computes dq, dk and dv, one after the other in a vector.
type fusedBackward struct{ fused }

func (o fusedBackward) spec() (string, []arg) {
	return "FusedAttentionBackward", o.args(false, arg{name: "both"}, arg{name: "dout"})
}

func (o fusedBackward) shape(in []tensor.Shape) (tensor.Shape, error) {
	return tensor.Shape{in[0].TotalSize() + in[1].TotalSize() + in[2].TotalSize()}, nil
}

func (o fusedBackward) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, fusedBackwardForward[float32], fusedBackwardForward[float64])(o, out, in)
}

func fusedBackwardForward[F kernel.Float](o fusedBackward, out *tensor.Dense, in []*tensor.Dense) error {
	a := o.attention(in)
	grads, both, dout := floats[F](out), floats[F](in[len(in)-2]), floats[F](in[len(in)-1])
	nq, nk, n := in[0].Shape().TotalSize(), in[1].Shape().TotalSize(), len(dout)
	kernel.AttentionBackward(&a, kernel.QKV[F]{Q: grads[:nq], K: grads[nq : nq+nk], V: grads[nq+nk:]},
		dout, both[:n], both[n:], qkv[F](in))
	return nil
}

func (o fusedBackward) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return noSecond(o) }

// segment is the part of a vector that begins at From, as a tensor of a shape.
type segment struct {
	From  int
	Shape tensor.Shape
}

func (segment) spec() (string, []arg) { return "Segment", []arg{{name: "x"}} }

func (o segment) shape([]tensor.Shape) (tensor.Shape, error) { return o.Shape.Clone(), nil }

func (o segment) view(int) (input, from int) { return 0, o.From }

func (o segment) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return copyFrom(out, in[0], o.From)
}

func (o segment) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return noSecond(o) }

func copyFrom(out, in *tensor.Dense, from int) error {
	if out.Dtype() == tensor.Float32 {
		copy(out.Float32s(), in.Float32s()[from:])
	} else {
		copy(out.Float64s(), in.Float64s()[from:])
	}
	return nil
}
