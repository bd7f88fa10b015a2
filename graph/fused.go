package graph

import (
	"fmt"
	"slices"

	"attention/graph/mask"
	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// fused holds the settings that the ops of one FusedAttention share.
type fused struct {
	operands
	Heads, KVHeads int // side by side in a row; with Heads 0 the heads, if any, have their own axis
	Scale, Softcap float64
	Score          numberedScore
	Sigmoid        bool
	SigmoidBias    float64
	Mask           mask.Mask // resolved
	Extra          int
	P              float64
	Site           int
	Packed         packing
	Observed       bool // whether to compute statistics
	Offset         int  // position of the first query among the keys, for the statistics
	OneHead        bool // whether to compute one head only, whose number is an input
	args           []arg
}

// The indices of the arguments. All except the first and those of the mask may be missing. All but the first and those
// of the mask may be missing.
const (
	queries = iota // queries, or queries, keys and values packed in one tensor
	keys
	values
	bias
	relativeBias
	logGates
	sinks
	dropoutKey
	headNumber
	maskInputs // the first argument of the mask
)

// newFused returns the settings of the ops and their inputs.
func newFused(a *attentionArgs, x FusedInputs) (fused, G.Nodes) {
	f := fused{operands: operands{a.Precision}, Heads: a.Heads, KVHeads: a.numKVHeads, Scale: a.Scale,
		Softcap: a.Softcap, Score: a.numbered(), Sigmoid: a.Sigmoid, SigmoidBias: a.SigmoidBias, Mask: a.mask.mask,
		Extra: a.ExtraKeys, P: a.Dropout.P, Site: a.Dropout.Site, Observed: x.Stats || x.Head != nil,
		Packed: x.packing(), OneHead: x.Head != nil}
	if f.Observed {
		f.Offset = x.Offset
	}
	f.args = named("q", "k", "v", "bias", "relative_bias", "log_gates", "sinks", "key", "head")
	in := G.Nodes{x.Query, x.Key, x.Value, a.Bias, a.RelativeBias, a.LogGates, a.Sinks, a.Dropout.Key, x.Head}
	if x.Packed != nil {
		f.args[queries].name, in[queries] = "qkv", x.Packed
	}
	if f.OneHead {
		in[values] = nil
	}
	if f.P == 0 {
		in[dropoutKey] = nil
	}
	for i := range f.args {
		f.args[i].optional = i != queries && (i != dropoutKey || f.P == 0)
		f.args[i].integer = i >= dropoutKey
		f.args[i].fixed = i >= bias && i <= logGates && in[i] != nil && isConstant(in[i])
	}
	f.args = slices.Clip(append(f.args, a.mask.args...))
	return f, append(in, a.mask.nodes...)
}

// sizes returns the kernel's view of inputs of these shapes, and the axes of their scores.
func (f fused) sizes(in []tensor.Shape) (kernel.Attention, mask.Scores) {
	q, k, v := f.heads(in)
	axes := scoresOf(q, k, f.Heads)
	a := kernel.Attention{B: axes.B(), H: axes.H, K: axes.H, T: axes.T, S: axes.S,
		Scale: f.Scale, Softcap: f.Softcap, Sigmoid: f.Sigmoid, SigmoidBias: f.SigmoidBias, Unbiased: f.Extra,
		Precision: f.kernel()}
	layout := kernel.HeadsFirst
	if f.Heads > 0 {
		layout, a.K = kernel.HeadsInRow, f.KVHeads
	}
	a.D, a.DV = last(q)/max(f.Heads, 1), last(v)/f.KVHeads
	a.QueryAt, a.KeyAt = layout(a.H, a.T, a.D), layout(a.K, a.S, a.D)
	a.ValueAt, a.OutputAt = layout(a.K, a.S, a.DV), layout(a.H, a.T, a.DV)
	if f.OneHead {
		a.H, a.K, axes.H = 1, 1, 1
	}
	if row := f.Packed.row(); row > 0 {
		for _, at := range []*kernel.HeadLayout{&a.QueryAt, &a.KeyAt, &a.ValueAt} {
			at.Batch, at.Row = a.T*row, row
		}
	}
	return a, axes
}

// bind returns the kernel's view of the arguments of one run.
func (f fused) bind(in []*tensor.Dense) (kernel.Attention, error) {
	a, axes := f.sizes(shapesOf(in))
	axes.S -= f.Extra
	if f.OneHead {
		if err := f.checkHead(in); err != nil {
			return a, err
		}
		axes.H = f.Heads // as masks and biases count them
		f.Score.into(&a, f.head(in), nil)
	} else {
		f.Score.into(&a, 0, nil)
	}
	if err := f.setBiasLayout(&a, in, axes); err != nil {
		return a, err
	}
	a.RelativeAt.Zero = axes.S - 1
	if f.Mask == (mask.All{}) {
		return a, nil
	}
	seen, err := f.seen(in, axes)
	if err != nil {
		return a, err
	}
	if f.OneHead {
		seen = seen.OfHead(f.head(in))
	}
	setVisibility(&a, seen)
	err = f.setBlocks(&a, in, axes)
	return a, err
}

// setBiasLayout sets the layout of the biases, and the dropout.
func (f fused) setBiasLayout(a *kernel.Attention, in []*tensor.Dense, axes mask.Scores) (err error) {
	if in[bias] != nil {
		if a.BiasAt, err = broadcast("FusedAttention", "bias", in[bias].Shape(), axes); err != nil {
			return err
		}
	}
	if relative := in[relativeBias]; relative != nil && relative.Shape()[0] > 1 {
		a.RelativeAt.Head = relative.Shape()[1]
	}
	if in[dropoutKey] != nil {
		a.Dropout = kernel.WeightDropout{P: f.P, Key: dense.Ints(in[dropoutKey])[0], Site: f.Site}
	}
	return nil
}

// seen binds the mask to its inputs.
func (f fused) seen(in []*tensor.Dense, axes mask.Scores) (mask.KeySet, error) {
	return bindMask("FusedAttention", f.Mask, in[maskInputs:len(f.args)], axes, f.Extra)
}

// numbers returns the kernel's view of the inputs that hold floats; a is the kernel's view of the sizes.
func numbers[F kernel.Float](f fused, a *kernel.Attention, in []*tensor.Dense) kernel.QKV[F] {
	x, gates := qkvOf(f, func(i int) []F { return floats[F](in[i]) })
	if gates != nil {
		at := gateLayout(f.Heads > 0, max(f.Heads, a.H), a.S-a.Unbiased)
		if f.OneHead {
			gates = gates[f.head(in)*at.Head:]
		}
		x.Forget = kernel.ForgettingOf(a, gates, at)
	}
	if f.OneHead {
		selectHead(f, &x, a, f.head(in))
	}
	return x
}

// qkvOf returns the kernel's view of the numbers of each argument, or of memory for their gradients, and those of the
// log-gates.
func qkvOf[F kernel.Float](f fused, of func(i int) []F) (x kernel.QKV[F], gates []F) {
	x = kernel.QKV[F]{Q: of(queries), K: of(keys), V: of(values), Bias: of(bias), Relative: of(relativeBias)}
	gates = of(logGates)
	x.Sinks = of(sinks)
	if p := f.Packed; p != separate && x.Q != nil {
		x.K, x.V = x.Q[p[0]:], x.Q[p[0]+p[1]:]
	}
	return x, gates
}

// head returns the number of the one head.
func (f fused) head(in []*tensor.Dense) int { return int(dense.Ints(in[headNumber])[0]) }

// checkHead returns an error if there is no head with this number.
func (f fused) checkHead(in []*tensor.Dense) error {
	if h := dense.Ints(in[headNumber])[0]; h < 0 || h >= int64(f.Heads) {
		return fmt.Errorf("graph: FusedAttention: head: got %d, want from 0 to H−1=%d", h, f.Heads-1)
	}
	return nil
}

// selectHead moves the arguments of all heads to those of one head.
func selectHead[F kernel.Float](f fused, x *kernel.QKV[F], a *kernel.Attention, head int) {
	x.Q, x.K = x.Q[head*a.D:], x.K[head/(f.Heads/f.KVHeads)*a.D:]
	if x.Bias != nil {
		x.Bias = x.Bias[head*a.BiasAt.Head:]
	}
	if x.Relative != nil {
		x.Relative = x.Relative[head*a.RelativeAt.Head:]
	}
	if x.Sinks != nil {
		x.Sinks = x.Sinks[head:]
	}
}
