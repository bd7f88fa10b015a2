package look

import (
	"cmp"
	"fmt"
	"math"
	"sync"

	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Look is a model over a text.
type Look struct {
	Model     *Model
	Request   Request
	Whole     string // the text, with what the model has written of a translation
	Cut       int    // tokens before the window, which are not seen
	Sequences []Sequence
	Layers    []*Layer
	Next      [][]Candidate // the likeliest tokens: after a text, or at each place of a translation
}

// Layer is one attention of a model, with what its scores are made of.
type Layer struct {
	Path string `json:"path"`
	place
	Fixed    bool    `json:"fixed,omitempty"` // it has neither heads nor masks to change
	Heads    int     `json:"heads"`
	KeyHeads int     `json:"key_heads"` // each for Heads/KeyHeads heads
	Width    int     `json:"width"`     // of a head's queries and keys, D
	T        int     `json:"t"`
	S        int     `json:"s"`
	Scale    float64 `json:"scale"`
	Softcap  float64 `json:"softcap,omitempty"`
	Additive bool    `json:"additive,omitempty"`
	Turned   bool    `json:"turned,omitempty"` // queries and keys were normalised or turned after the projection
	Sinks    bool    `json:"sinks,omitempty"`  // each head has a score without a key

	q, k       []float32 // (T, H·D), (S, K·D) of the scores
	v          []float32 // (S, K·Dv)
	rawQ, rawK []float32 // before they were turned, if they were
	vector     []float32 // (D) of additive scores
	bias       []float32 // (H, T+S−1) or (1, T+S−1), if there is one
	sinks      []float32 // (H), if there are some
	shown      Runs

	mu        sync.Mutex
	summaries []*Summary // of each head; nil until they are asked for
}

// Runs are the keys that each query sees: of query t the ranges Keys[2i] ≤ s < Keys[2i+1] for i from Start[t] to
// Start[t+1].
type Runs struct {
	Start, Keys []uint32
}

// of returns the ranges of a query.
func (r Runs) of(t int) []uint32 { return r.Keys[2*r.Start[t] : 2*r.Start[t+1]] }

func (l layerNodes) heads() int { return max(1, l.operands.Config.Heads) }

// read copies a layer's values.
func (l layerNodes) read() (*Layer, error) {
	p, c := l.operands, l.operands.Config
	out := &Layer{Path: l.path, place: l.place, Fixed: l.fixed, Heads: l.heads(), KeyHeads: cmp.Or(c.KVHeads, l.heads()),
		Softcap: c.Softcap, Additive: p.Additive != nil, Sinks: c.Sinks != nil,
		Turned: p.ProjectedQuery != p.Query || p.ProjectedKey != p.Key}
	if c.Bias != nil {
		return nil, fmt.Errorf("%s: got a bias (T, S), which cannot be shown", l.path)
	}
	out.T, out.S = rows(p.Query), rows(p.Key)
	out.Width = p.Query.Shape()[1] / out.Heads
	out.Scale = cmp.Or(c.Scale, 1/math.Sqrt(float64(out.Width)))
	if out.Additive {
		out.Scale = 1
	}
	out.q, out.k, out.vector = floats(p.Query), floats(p.Key), floats(p.Additive)
	out.v = floats(p.Value)
	out.bias, out.sinks = floats(c.RelativeBias), floats(c.Sinks)
	if out.Turned {
		out.rawQ, out.rawK = floats(p.ProjectedQuery), floats(p.ProjectedKey)
	}
	out.summaries = make([]*Summary, out.Heads)
	var err error
	out.shown, err = runsOf(c.Mask, out.T, out.S-c.ExtraKeys, c.ExtraKeys)
	return out, err
}

// rows returns the T of (T, E).
func rows(n *G.Node) int { return n.Shape()[0] }

// floats returns a copy of a node's value in float32; nil for nil.
func floats(n *G.Node) []float32 {
	if n == nil {
		return nil
	}
	v := n.Value().(*tensor.Dense)
	if v.Dtype() == tensor.Float32 {
		return append([]float32(nil), v.Float32s()...)
	}
	out := make([]float32, len(v.Float64s()))
	for i, x := range v.Float64s() {
		out[i] = float32(x)
	}
	return out
}

// runsOf returns the keys that a mask shows, and the extra keys after them, which all queries see.
func runsOf(m mask.Mask, T, S, extra int) (r Runs, err error) {
	scores := mask.Scores{H: 1, T: T, S: S}
	m, in, err := mask.Resolve(m, scores)
	if err != nil {
		return r, err
	}
	values := make([]*tensor.Dense, len(in))
	for i, input := range in {
		values[i] = input.Node.Value().(*tensor.Dense)
	}
	set, err := mask.Bind(m, values, scores)
	if err != nil {
		return r, err
	}
	r.Start = append(r.Start, 0)
	shown := make([]bool, S)
	for t := range T {
		lo, hi, all := set.Span(0, t)
		lo, hi = max(lo, 0), min(hi, S) // a mask may have no end
		if all {
			r.add(lo, hi)
		} else {
			set.Fill(0, 0, t, lo, shown[lo:hi])
			r.addShown(lo, shown[lo:hi])
		}
		r.add(S, S+extra)
		r.Start = append(r.Start, uint32(len(r.Keys)/2))
	}
	return r, nil
}

func (r *Runs) add(lo, hi int) {
	if lo < hi {
		r.Keys = append(r.Keys, uint32(lo), uint32(hi))
	}
}

// addShown adds the runs of true.
func (r *Runs) addShown(lo int, shown []bool) {
	begin := -1
	for i, s := range append(shown[:len(shown):len(shown)], false) {
		switch {
		case s && begin < 0:
			begin = i
		case !s && begin >= 0:
			r.add(lo+begin, lo+i)
			begin = -1
		}
	}
}
