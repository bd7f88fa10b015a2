package heads

import (
	"cmp"
	"fmt"

	"attention/internal/dense"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Operands are the numbers that the scores and the output of one head over one text are computed from, row by row.
// With no mask the score of query t and key s is softcap(scale·Query[t]·Key[s]) + Bias[t−s+S−1], and with LogGates of N
// keys the sum of those up to t+N−T less that up to s. With Config.Sigmoid the weight is the sigmoid of the score plus
// Config.SigmoidBias.
type Operands struct {
	ProjectedQuery, ProjectedKey []float32 // before QKNorm and RoPE; nil if these change neither
	Query, Key                   []float32 // (T, D), (S, D)
	Value                        []float32 // (S, Dv)
	Additive                     []float32 // (A) of additive attention, whose D is A; nil for dot products
	Bias                         []float32 // (T+S−1), of the distance t − s; nil if there is none
	LogGates                     []float32 // (N), of the keys but those that are added to them; nil if none is forgotten
	Sink                         *float64  // a score without a key; nil if there is none
}

// Of returns the numbers of a head, from the values that the nodes have after a run. The operands are those of one text,
// without an axis of batches.
func Of(o layers.AttentionOperands, head int) (h Operands, err error) {
	c := o.Config
	heads := max(1, c.Heads)
	if err := check(head, heads); err != nil {
		return h, err
	}
	r := reader{}
	keyHeads := cmp.Or(c.KVHeads, heads)
	keyHead := head * keyHeads / heads
	h = Operands{Query: r.columns(o.Query, heads, head), Key: r.columns(o.Key, keyHeads, keyHead),
		Value: r.columns(o.Value, keyHeads, keyHead)}
	if o.ProjectedQuery != o.Query || o.ProjectedKey != o.Key {
		h.ProjectedQuery = r.columns(o.ProjectedQuery, heads, head)
		h.ProjectedKey = r.columns(o.ProjectedKey, keyHeads, keyHead)
	}
	if o.Additive != nil {
		h.Additive = r.all(o.Additive)
	}
	if c.RelativeBias != nil && r.err == nil {
		h.Bias = r.row(c.RelativeBias, head, o.Query.Shape()[0]+o.Key.Shape()[0]-1)
	}
	if c.LogGates != nil {
		h.LogGates = r.columns(c.LogGates, heads, head)
	}
	if c.Sinks != nil {
		if score := r.row(c.Sinks, head, 1); score != nil {
			sink := float64(score[0])
			h.Sink = &sink
		}
	}
	return h, r.err
}

// check refuses a number that no head has.
func check(head, heads int) error {
	if head < 0 || head >= heads {
		return fmt.Errorf("heads: head: got %d, want 0 to %d", head, heads-1)
	}
	return nil
}

// reader reads the values of nodes. It keeps its first error.
type reader struct{ err error }

// value returns the value of a node; nil after an error.
func (r *reader) value(n *G.Node) *tensor.Dense {
	if n != nil {
		if v, ok := n.Value().(*tensor.Dense); ok {
			return v
		}
	}
	r.err = cmp.Or(r.err, fmt.Errorf("heads: got one without a value, want those of a run"))
	return nil
}

// text returns the value (N, width) of an operand of one text; nil after an error.
func (r *reader) text(n *G.Node) *tensor.Dense {
	v := r.value(n)
	if v != nil && v.Dims() != 2 {
		r.err = cmp.Or(r.err, fmt.Errorf("heads: got one of shape %v, want those of one text", v.Shape()))
		return nil
	}
	return v
}

// all returns all numbers of a node.
func (r *reader) all(n *G.Node) []float32 {
	v := r.value(n)
	if v == nil {
		return nil
	}
	return dense.Float32s(v, 0, v.Shape().TotalSize())
}

// row returns the width numbers of a head. A node with only one such row serves all heads.
func (r *reader) row(n *G.Node, head, width int) []float32 {
	all := r.all(n)
	if len(all) < width || len(all)%width != 0 {
		r.err = cmp.Or(r.err, fmt.Errorf("heads: got %d numbers, want %d for each head", len(all), width))
		return nil
	}
	return all[head*width%len(all):][:width]
}

// columns returns a head's columns of a node (rows, heads·width).
func (r *reader) columns(n *G.Node, heads, head int) []float32 {
	v := r.text(n)
	if v == nil {
		return nil
	}
	rows, row := v.Shape()[0], v.Shape()[1]
	width := row / heads
	out := make([]float32, 0, rows*width)
	for at := head * width; at < rows*row; at += row {
		out = append(out, dense.Float32s(v, at, at+width)...)
	}
	return out
}
