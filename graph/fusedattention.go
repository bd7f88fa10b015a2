package graph

import (
	"attention/graph/mask"
	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// FusedAttention is the out of Attention, for the same arguments, in one op: tile
// by tile, with an online softmax, and never holding the (T, S) weights
// (FlashAttention: Dao et al. 2022). Its memory grows with T alone, and tiles that
// the mask hides cost nothing. Its backward makes the weights again from each row's
// log Σexp(score), which the forward keeps. A bias from Detach gets no gradient.
//
// It refuses c.Renormalize, which needs the weights of hidden keys.
func FusedAttention(q, k, v *G.Node, c AttentionConfig) (*G.Node, error) {
	a, err := c.resolve("FusedAttention", q, k, v)
	if err != nil {
		return nil, err
	}
	return a.fuse(separate, q, k, v)
}

// fuse applies the ops of a FusedAttention. One op has one result, but the backward needs
// the rows' log-sum-exps too: the first op computes both into one vector, the second
// takes the output out of it and is the one that is differentiated.
func (a *attentionArgs) fuse(p packing, qkv ...*G.Node) (*G.Node, error) {
	if a.Renormalize {
		return nil, a.errorf("renormalize: got it, want weights as the softmax gives them, or Attention")
	}
	f, in := newFused(a, p, qkv...)
	both, err := applyTyped(fusedForward[float32]{fused: f}, fusedForward[float64]{fused: f}, in...)
	if err != nil {
		return nil, err
	}
	return applyTyped(fusedOutput[float32]{f}, fusedOutput[float64]{f}, append(in, both)...)
}

// fused is what the ops of one FusedAttention have in common.
type fused struct {
	Heads, KVHeads int // side by side in a row; no Heads: they have an axis of their own, if any
	Scale, Softcap float64
	Mask           mask.Mask // resolved
	Extra          int
	P              float64
	Site           int
	Packed         packing
	in             []fusedInput // q, k, v first, or the one that they are packed in
}

// fusedInput is an argument of the ops, in order.
type fusedInput struct {
	arg
	role role
}

// role says what the kernel does with an argument.
type role int

const (
	queriesKeysValues role = iota // packed in one
	queries
	keys
	values
	bias
	relativeBias
	sinks
	dropoutKey
	maskInput
)

// newFused lists the arguments of the ops. qkv are q, k and v, or the one that they are
// packed in.
func newFused(a *attentionArgs, p packing, qkv ...*G.Node) (fused, G.Nodes) {
	f := fused{Heads: a.Heads, KVHeads: a.numKVHeads, Scale: a.Scale, Softcap: a.Softcap, Mask: a.mask.mask, Extra: a.ExtraKeys,
		P: a.Dropout.P, Site: a.Dropout.Site, Packed: p}
	var in G.Nodes
	add := func(n *G.Node, r role, x arg) {
		f.in, in = append(f.in, fusedInput{x, r}), append(in, n)
	}
	if p == separate {
		add(qkv[0], queries, arg{name: "q"})
		add(qkv[1], keys, arg{name: "k"})
		add(qkv[2], values, arg{name: "v"})
	} else {
		add(qkv[0], queriesKeysValues, arg{name: "qkv"})
	}
	if a.Bias != nil {
		add(a.Bias, bias, arg{name: "bias", fixed: isConstant(a.Bias)})
	}
	if a.RelativeBias != nil {
		add(a.RelativeBias, relativeBias, arg{name: "relative_bias", fixed: isConstant(a.RelativeBias)})
	}
	if a.Sinks != nil {
		add(a.Sinks, sinks, arg{name: "sinks"})
	}
	if f.P > 0 {
		add(a.Dropout.Key, dropoutKey, arg{name: "key", integer: true})
	}
	for i, n := range a.mask.nodes {
		add(n, maskInput, a.mask.args[i])
	}
	return f, in
}

// args are those of the inputs, then more.
func (f fused) args(more ...arg) []arg {
	var args []arg
	for _, in := range f.in {
		args = append(args, in.arg)
	}
	return append(args, more...)
}

// differentiated says whether a gradient flows into an input.
func (in fusedInput) differentiated() bool { return in.role <= sinks && !in.fixed }

// sizes are the kernel's view of inputs of these shapes.
func (f fused) sizes(in []tensor.Shape) kernel.Attention {
	q, k, v := f.heads(in)
	axes := scoresOf(q, k, f.Heads)
	a := kernel.Attention{B: axes.B(), H: axes.H, K: axes.H, T: axes.T, S: axes.S,
		Scale: f.Scale, Softcap: f.Softcap, Unbiased: f.Extra}
	layout := kernel.HeadsFirst
	if f.Heads > 0 {
		layout, a.K = kernel.HeadsInRow, f.KVHeads
	}
	a.D, a.DV = last(q)/max(f.Heads, 1), last(v)/f.KVHeads
	a.QueryAt, a.KeyAt = layout(a.H, a.T, a.D), layout(a.K, a.S, a.D)
	a.ValueAt, a.OutputAt = layout(a.K, a.S, a.DV), layout(a.H, a.T, a.DV)
	if row := f.Packed.row(); row > 0 {
		for _, at := range []*kernel.HeadLayout{&a.QueryAt, &a.KeyAt, &a.ValueAt} {
			at.Batch, at.Row = a.T*row, row
		}
	}
	return a
}

// bind makes the kernel's view of one run.
func (f fused) bind(in []*tensor.Dense) (kernel.Attention, error) {
	shapes := shapesOf(in)
	a := f.sizes(shapes)
	q, k, _ := f.heads(shapes)
	axes := scoresOf(q, k, f.Heads)
	axes.S -= f.Extra
	if err := f.layBiases(&a, in, axes); err != nil {
		return a, err
	}
	a.RelativeAt.Zero = axes.S - 1
	if f.Mask == (mask.All{}) {
		return a, nil
	}
	seen, err := f.seen("FusedAttention", in, axes)
	if err == nil {
		setVisibility(&a, seen)
	}
	return a, err
}

// layBiases says where biases lie, and sets up the dropout.
func (f fused) layBiases(a *kernel.Attention, in []*tensor.Dense, axes mask.Scores) (err error) {
	for i, x := range f.in {
		switch x.role {
		case bias:
			if a.BiasAt, err = broadcast("FusedAttention", "bias", in[i].Shape(), axes); err != nil {
				return err
			}
		case relativeBias:
			if s := in[i].Shape(); s[0] > 1 {
				a.RelativeAt.Head = s[1]
			}
		case dropoutKey:
			a.Dropout = kernel.WeightDropout{P: f.P, Key: dense.Ints(in[i])[0], Site: f.Site}
		}
	}
	return nil
}

// seen binds the mask to its inputs, the last of all.
func (f fused) seen(op string, in []*tensor.Dense, axes mask.Scores) (mask.KeySet, error) {
	first := len(f.in)
	for first > 0 && f.in[first-1].role == maskInput {
		first--
	}
	return bindMask(op, f.Mask, in[first:len(f.in)], axes, f.Extra)
}

// numbers are the kernel's arguments among tensors, those that are float32 or float64.
func numbers[F kernel.Float](f fused, in []*tensor.Dense) (x kernel.QKV[F]) {
	for i, input := range f.in {
		if input.role <= sinks {
			give(f, &x, input.role, floats[F](in[i]))
		}
	}
	return x
}

// fusedForward computes out (…, T, H·Dv) and the log-sum-exps (…, H, T) of the
// scores, one after the other in a vector.
type fusedForward[F kernel.Float] struct {
	isGradient // the output is differentiated instead
	fused
}

func (o fusedForward[F]) spec() (string, []arg) {
	args := o.args()
	for i := range args {
		args[i].fixed = true
	}
	return "FusedAttention", args
}

func (o fusedForward[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	for i, x := range o.in {
		if x.role == dropoutKey && in[i].TotalSize() != 1 {
			return nil, &ShapeError{"Dropout", "key", in[i], "()"}
		}
	}
	a := o.sizes(in)
	return tensor.Shape{a.B * a.H * a.T * (a.DV + 1)}, nil
}

func (o fusedForward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	a, err := o.bind(in)
	if err != nil {
		return err
	}
	both, n := floats[F](out), a.B*a.H*a.T*a.DV
	kernel.AttentionForward(&a, both[:n], both[n:], numbers[F](o.fused, in))
	return nil
}

// fusedOutput takes out from what fusedForward computed.
type fusedOutput[F kernel.Float] struct{ fused }

func (o fusedOutput[F]) spec() (string, []arg) {
	return "FusedAttention", o.args(arg{name: "both", fixed: true})
}

func (o fusedOutput[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	q, _, v := o.heads(in)
	out := q.Clone()
	out[len(out)-1] = last(v) / o.KVHeads * max(o.Heads, 1)
	return out, nil
}

func (o fusedOutput[F]) view(inputs int) (input, from int) { return inputs - 1, 0 }

func (o fusedOutput[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return copyFrom(out, in[len(in)-1], 0)
}

// With P = softmax(scores), W = dropout(P), out = W·v, D = Σ dout⊙out:
// dv = Wᵀ·dout, dbias = P⊙(dropout(dout·vᵀ) − D), dscores = softcap′(dbias)·scale,
// dq = dscores·k, dk = dscoresᵀ·q.
func (o fusedOutput[F]) backward(in G.Nodes, _, dout *G.Node) (G.Nodes, error) {
	grads, err := apply(fusedBackward[F]{fused: o.fused}, append(append(G.Nodes{}, in...), dout)...)
	if err != nil {
		return nil, err
	}
	d, from := make(G.Nodes, len(in)), 0
	for i, x := range o.in {
		if !x.differentiated() {
			continue
		}
		if d[i], err = apply(segment{From: from, Shape: in[i].Shape()}, grads); err != nil {
			return nil, err
		}
		from += in[i].Shape().TotalSize()
	}
	return d, nil
}
