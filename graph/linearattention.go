package graph

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// LinearAttentionConfig are the options of LinearAttention.
type LinearAttentionConfig struct {
	Heads   int     // H, heads side by side in q; 0 means 1
	KVHeads int     // K, heads side by side in k and v, each with a state that H/K heads of q read; 0 means H
	Scale   float64 // of the outputs; 0 means 1/√D

	// Decay is the logarithm g of the factor by which the state decays at each token: ([B,] T, K) for each head
	// (retention: Sun et al. 2023; Mamba-2), or ([B,] T, K·D) for each channel of its keys (GLA: Yang et al. 2023). Nil
	// means 0: no decay.
	Decay *G.Node
	// Beta ([B,] T, K) selects the delta rule: each β is the share of the state's value for a key that the token's value
	// replaces. Keys should have length 1, and β should be between 0 and 1, or 2. If Beta is nil, the values are added.
	Beta *G.Node

	State   *G.Node // ([B,] K, D, Dv), before the first token; nil means 0
	Lengths *G.Node // of the sequences, int or int64 (B); nil means T. The output behind a sequence's end is 0.

	Precision Precision // of the products of a chunk
}

// LinearAttention returns attention without a softmax. In place of all keys and values it reads a state S (D, Dv) of
// each head (Katharopoulos et al. 2020): q is ([B,] T, H·D), k ([B,] T, K·D), v ([B,] T, K·Dv), out ([B,] T, H·Dv). In
// the notation of ONNX, with g of Decay and β of Beta: 2020): q is ([B,] T, H·D), k ([B,] T, K·D), v ([B,] T, K·Dv),
// out ([B,] T, H·Dv).
//
//	S[t] = S[t−1] + k[t]⊗v[t]                                            linear
//	S[t] = exp(g[t])⊙S[t−1] + k[t]⊗v[t]                                  gated
//	S[t] = S[t−1] + β[t]·k[t]⊗(v[t] − S[t−1]ᵀ·k[t])                      delta (DeltaNet: Yang et al. 2024)
//	S[t] = exp(g[t])⊙S[t−1] + β[t]·k[t]⊗(v[t] − (exp(g[t])⊙S[t−1])ᵀ·k[t])  gated_delta (Gated DeltaNet)
//	out[t] = Scale·S[t]ᵀ·q[t]
//
// state ([B,] K, D, Dv) is the one after the last token; no gradient flows into it.
//
// Time and memory grow linearly with T: tokens are processed in chunks, and the state before each chunk is kept for the
// backward. Exponentials are never taken of large sums or differences of decays, so that any decay is exact.
func LinearAttention(q, k, v *G.Node, c LinearAttentionConfig) (out, state *G.Node, err error) {
	o, in, err := c.resolve("LinearAttention", q, k, v)
	if err != nil {
		return nil, nil, err
	}
	out, all, err := applyKept(recurrence[float32]{o}, recurrence[float64]{o}, in...)
	if err != nil {
		return nil, nil, err
	}
	sizes, n := o.sizes(q.Shape(), v.Shape(), nil), q.Dims()
	last := append(q.Shape()[:n-2], sizes.K, sizes.D, sizes.DV)
	state, err = apply(keptPart{outShape: outShape{last}, Name: "LinearAttentionState",
		From: all.Shape()[0] - last.TotalSize()}, all)
	return out, state, err
}

// recurrence is the op, which stores the state before each chunk and the last state.
type recurrence[F kernel.Float] struct{ linear }

// linearInputs returns the sizes and the inputs' values.
func linearInputs[F kernel.Float](o linear, in []*tensor.Dense) (kernel.LinearAttention, kernel.LinearOperands[F]) {
	var decay tensor.Shape
	if in[3] != nil {
		decay = in[3].Shape()
	}
	l := o.sizes(in[0].Shape(), in[2].Shape(), decay)
	l.Lengths = ints(in[6])
	return l, kernel.LinearOperands[F]{Q: floats[F](in[0]), K: floats[F](in[1]), V: floats[F](in[2]),
		Decay: floats[F](in[3]), Beta: floats[F](in[4]), State: floats[F](in[5])}
}

func (o recurrence[F]) keeps(in []tensor.Shape) int {
	l := o.sizes(in[0], in[2], in[3])
	return l.States() * l.B * l.K * l.D * l.DV
}

func (o recurrence[F]) compute(all vector[F], in []*tensor.Dense) error {
	l, x := linearInputs[F](o.linear, in)
	y := all.next(l.B * l.T * l.H * l.DV)
	kernel.LinearForward(l, y, all, x)
	return nil
}

func (o recurrence[F]) gradients(d vector[F], in []*tensor.Dense, all vector[F], dy []F) error {
	l, x := linearInputs[F](o.linear, in)
	grad := kernel.LinearOperands[F]{Q: d.like(in[0]), K: d.like(in[1]), V: d.like(in[2]),
		Decay: d.like(in[3]), Beta: d.like(in[4]), State: d.like(in[5])}
	kernel.LinearBackward(l, grad, dy, all[len(dy):], x)
	return nil
}

// resolve checks the options and returns the settings of the ops, and their inputs.
func (c LinearAttentionConfig) resolve(op string, q, k, v *G.Node) (o linear, in G.Nodes, err error) {
	c.Heads = cmp.Or(c.Heads, 1)
	c.KVHeads = cmp.Or(c.KVHeads, c.Heads)
	switch {
	case c.Heads < 0:
		return o, nil, fmt.Errorf("graph: %s: heads: got %d, want at least 0", op, c.Heads)
	case c.KVHeads < 0 || c.Heads%c.KVHeads != 0:
		return o, nil, fmt.Errorf("graph: %s: key/value heads: got %d, want a divisor of the %d heads", op, c.KVHeads,
			c.Heads)
	case math.IsNaN(c.Scale) || math.IsInf(c.Scale, 0):
		return o, nil, fmt.Errorf("graph: %s: scale: got %v, want a finite number", op, c.Scale)
	}
	o = linear{operands: operands{c.Precision}, Op: op, Heads: c.Heads, KVHeads: c.KVHeads, Scale: c.Scale}
	return o, G.Nodes{q, k, v, c.Decay, c.Beta, c.State, c.Lengths}, nil
}

// linear holds the settings of the ops of one LinearAttention. It is an op because a formula would have a dozen nodes
// for each token.
type linear struct {
	operands
	Op             string
	Heads, KVHeads int
	Scale          float64
}

var linearArgs = []arg{{name: "q"}, {name: "k"}, {name: "v"}, {name: "decay", optional: true},
	{name: "beta", optional: true}, {name: "state", optional: true}, {name: "lengths", integer: true, optional: true}}

func (o linear) spec() spec { return spec{name: o.Op, args: linearArgs, precision: o.Precision} }

// shape checks the shapes of the arguments and returns the output's.
func (o linear) shape(in []tensor.Shape) (tensor.Shape, error) {
	q, v, decay := in[0], in[2], in[3]
	bad := func(arg string, got tensor.Shape, want string, values ...any) error {
		return &ShapeError{o.Op, arg, got, fmt.Sprintf(want, values...)}
	}
	if n := q.Dims(); n != 2 && n != 3 || last(q)%o.Heads != 0 {
		return nil, bad("q", q, "([B,] T, H·D) with H=%d", o.Heads)
	}
	batch, rows := q[:q.Dims()-2], q[:q.Dims()-1]
	row := func(width int) tensor.Shape { return append(rows.Clone(), width) }
	d, heads := last(q)/o.Heads, row(o.KVHeads)
	channels := row(o.KVHeads * d)
	if err := checkWanted(o.Op, linearArgs[1:], in[1:], channels); err != nil {
		return nil, err
	}
	if v.Dims() != q.Dims() || !slices.Equal(v[:v.Dims()-1], rows) || last(v)%o.KVHeads != 0 {
		return nil, bad("v", v, "%s, K·Dv) with K=%d", strings.TrimSuffix(fmt.Sprint(rows), ")"), o.KVHeads)
	}
	if decay != nil && !slices.Equal(decay, heads) && !slices.Equal(decay, channels) {
		return nil, bad("decay", decay, "%v or %v", heads, channels)
	}
	dv := last(v) / o.KVHeads
	state := append(batch.Clone(), o.KVHeads, d, dv)
	return row(o.Heads * dv), checkWanted(o.Op, linearArgs[4:], in[4:], heads, state, batch)
}

// sizes returns the sizes for checked shapes.
func (o linear) sizes(q, v, decay tensor.Shape) kernel.LinearAttention {
	n := q.Dims()
	l := kernel.LinearAttention{B: q[:n-2].TotalSize(), T: q[n-2], H: o.Heads, K: o.KVHeads, D: last(q) / o.Heads,
		DV: last(v) / o.KVHeads, Scale: o.Scale, Precision: o.kernel()}
	l.Channels = l.D > 1 && decay != nil && last(decay) == l.K*l.D
	l.Scale = cmp.Or(l.Scale, 1/math.Sqrt(float64(l.D)))
	return l
}
