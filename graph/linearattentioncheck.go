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

// linear is the settings of the ops of one LinearAttention.
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
