package graph

import (
	"slices"

	"attention/graph/mask"
	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// fused is the settings that the ops of one FusedAttention share.
type fused struct {
	operands
	Heads, KVHeads int // side by side in a row; with Heads 0 heads have an axis of their own, if any
	Scale, Softcap float64
	Score          numberedScore
	Sigmoid        bool
	SigmoidBias    float64
	Mask           mask.Mask // resolved
	Extra          int
	P              float64
	Site           int
	Packed         packing
	Observed       bool // whether there are statistics
	Offset         int  // of the queries among the keys, for these
	in             []fusedInput
}

// fusedInput is an argument of the ops, in order.
type fusedInput struct {
	arg
	role role
}

// A role is how the kernel uses an argument.
type role int

const (
	queriesKeysValues role = iota // packed in one
	queries
	keys
	values
	bias
	relativeBias
	logGates
	sinks
	dropoutKey
	headNumber
	maskInput
)

// newFused returns the settings of the ops and their inputs.
func newFused(a *attentionArgs, x FusedInputs) (fused, G.Nodes) {
	f := fused{operands: operands{a.Precision}, Heads: a.Heads, KVHeads: a.numKVHeads, Scale: a.Scale,
		Softcap: a.Softcap, Score: a.numbered(), Sigmoid: a.Sigmoid, SigmoidBias: a.SigmoidBias, Mask: a.mask.mask, Extra: a.ExtraKeys,
		P: a.Dropout.P, Site: a.Dropout.Site, Observed: x.Stats || x.Head != nil, Packed: x.packing()}
	if f.Observed {
		f.Offset = x.Offset
	}
	var in G.Nodes
	add := func(n *G.Node, r role, x arg) {
		f.in, in = append(f.in, fusedInput{x, r}), append(in, n)
	}
	if x.Packed != nil {
		add(x.Packed, queriesKeysValues, arg{name: "qkv"})
	} else {
		add(x.Query, queries, arg{name: "q"})
		add(x.Key, keys, arg{name: "k"})
	}
	switch {
	case x.Head != nil:
		add(x.Head, headNumber, arg{name: "head", integer: true})
	case x.Packed == nil:
		add(x.Value, values, arg{name: "v"})
	}
	if a.Bias != nil {
		add(a.Bias, bias, arg{name: "bias", fixed: isConstant(a.Bias)})
	}
	if a.RelativeBias != nil {
		add(a.RelativeBias, relativeBias, arg{name: "relative_bias", fixed: isConstant(a.RelativeBias)})
	}
	if a.LogGates != nil {
		add(a.LogGates, logGates, arg{name: "log_gates", fixed: isConstant(a.LogGates)})
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

// args returns the inputs' arguments, then more.
func (f fused) args(more ...arg) []arg {
	var args []arg
	for _, in := range f.in {
		args = append(args, in.arg)
	}
	return append(args, more...)
}

// find returns the place of the input of a role, or −1.
func (f fused) find(r role) int {
	return slices.IndexFunc(f.in, func(x fusedInput) bool { return x.role == r })
}

// oneHead reports whether only one head is computed, whose number is an input.
func (f fused) oneHead() bool { return f.find(headNumber) >= 0 }

// differentiated reports whether a gradient flows into an input.
func (in fusedInput) differentiated() bool { return in.role <= sinks && !in.fixed }

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
	if f.oneHead() {
		a.H, a.K, axes.H = 1, 1, 1
	}
	if row := f.Packed.row(); row > 0 {
		for _, at := range []*kernel.HeadLayout{&a.QueryAt, &a.KeyAt, &a.ValueAt} {
			at.Batch, at.Row = a.T*row, row
		}
	}
	return a, axes
}

// bind returns the kernel's view of one run.
func (f fused) bind(in []*tensor.Dense) (kernel.Attention, error) {
	a, axes := f.sizes(shapesOf(in))
	axes.S -= f.Extra
	if f.oneHead() {
		if err := f.checkHead(in); err != nil {
			return a, err
		}
		axes.H = f.Heads // as masks and biases have them
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
	if f.oneHead() {
		seen = seen.OfHead(f.head(in))
	}
	setVisibility(&a, seen)
	err = f.setBlocks(&a, in, axes)
	return a, err
}

// setBiasLayout sets the layout of the biases, and the dropout.
func (f fused) setBiasLayout(a *kernel.Attention, in []*tensor.Dense, axes mask.Scores) (err error) {
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

// seen binds the mask to its inputs.
func (f fused) seen(in []*tensor.Dense, axes mask.Scores) (mask.KeySet, error) {
	return bindMask("FusedAttention", f.Mask, f.maskInputs(in), axes, f.Extra)
}

// maskInputs returns the mask's inputs, which come last.
func (f fused) maskInputs(in []*tensor.Dense) []*tensor.Dense {
	first := len(f.in)
	for first > 0 && f.in[first-1].role == maskInput {
		first--
	}
	return in[first:len(f.in)]
}

// numbers returns the kernel's arguments among the inputs: those that hold floats, of a the kernel's view.
func numbers[F kernel.Float](f fused, a *kernel.Attention, in []*tensor.Dense) (x kernel.QKV[F]) {
	for i, input := range f.in {
		if input.role == logGates {
			x.Forget = sumsOf(f, a, dense.Floats[F](in[i]), in)
		} else if input.role <= sinks {
			give(f, &x, input.role, dense.Floats[F](in[i]))
		}
	}
	if f.oneHead() {
		selectHead(f, &x, a, f.head(in))
	}
	return x
}

// sumsOf returns the kernel's view of log-gates.
func sumsOf[F kernel.Float](f fused, a *kernel.Attention, gates []F, in []*tensor.Dense) kernel.Forgetting {
	at := gateLayout(f.Heads > 0, max(f.Heads, a.H), a.S-a.Unbiased)
	if f.oneHead() {
		gates = gates[f.head(in)*at.Head:]
	}
	return kernel.ForgettingOf(a, gates, at)
}
