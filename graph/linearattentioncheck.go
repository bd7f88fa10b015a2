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
	o = linear{operands: operands{c.Precision}, Op: op, Heads: c.Heads, KVHeads: c.KVHeads, Scale: c.Scale,
		Decay: c.Decay != nil, Beta: c.Beta != nil, State: c.State != nil, Lengths: c.Lengths != nil}
	in = G.Nodes{q, k, v}
	for _, optional := range []*G.Node{c.Decay, c.Beta, c.State, c.Lengths} {
		if optional != nil {
			in = append(in, optional)
		}
	}
	return o, in, nil
}

// linear is the settings of the ops of one LinearAttention.
type linear struct {
	operands
	Op                          string
	Heads, KVHeads              int
	Scale                       float64
	Decay, Beta, State, Lengths bool
}

func (o linear) args(fixed bool, more ...arg) []arg {
	args := []arg{{name: "q", fixed: fixed}, {name: "k", fixed: fixed}, {name: "v", fixed: fixed}}
	for _, optional := range []struct {
		has bool
		arg
	}{
		{o.Decay, arg{name: "decay", fixed: fixed}}, {o.Beta, arg{name: "beta", fixed: fixed}},
		{o.State, arg{name: "state", fixed: fixed}}, {o.Lengths, arg{name: "lengths", integer: true}},
	} {
		if optional.has {
			args = append(args, optional.arg)
		}
	}
	return append(args, more...)
}

// sizes checks the shapes of the arguments and returns the sizes.
func (o linear) sizes(in []tensor.Shape) (l kernel.LinearAttention, err error) {
	q, k, v := in[0], in[1], in[2]
	bad := func(arg string, got tensor.Shape, want string, values ...any) error {
		return &ShapeError{o.Op, arg, got, fmt.Sprintf(want, values...)}
	}
	if n := q.Dims(); n != 2 && n != 3 || last(q)%o.Heads != 0 {
		return l, bad("q", q, "([B,] T, H·D) with H=%d", o.Heads)
	}
	batch, rows := q[:q.Dims()-2], q[:q.Dims()-1]
	l = kernel.LinearAttention{B: batch.TotalSize(), T: last(rows), H: o.Heads, K: o.KVHeads, D: last(q) / o.Heads,
		Scale: o.Scale, Precision: o.kernel()}
	l.Scale = cmp.Or(l.Scale, 1/math.Sqrt(float64(l.D)))
	row := func(width int) tensor.Shape { return append(rows.Clone(), width) }
	if want := row(l.K * l.D); !slices.Equal(k, want) {
		return l, bad("k", k, "%v", want)
	}
	if v.Dims() != q.Dims() || !slices.Equal(v[:v.Dims()-1], rows) || last(v)%l.K != 0 {
		return l, bad("v", v, "%s, K·Dv) with K=%d", strings.TrimSuffix(fmt.Sprint(rows), ")"), l.K)
	}
	l.DV = last(v) / l.K
	for i, a := range o.args(false)[3:] {
		got, want := in[3+i], row(l.K)
		switch a.name {
		case "decay":
			if each := row(l.K * l.D); l.D > 1 && slices.Equal(got, each) {
				l.Channels = true
				continue
			}
			if !slices.Equal(got, want) {
				return l, bad("decay", got, "%v or %v", want, row(l.K*l.D))
			}
		case "state":
			want = append(batch.Clone(), l.K, l.D, l.DV)
		case "lengths":
			want = batch
		}
		if !slices.Equal(got, want) {
			return l, bad(a.name, got, "%v", want)
		}
	}
	return l, nil
}
