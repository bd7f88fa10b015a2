package look

import (
	"cmp"
	"fmt"
	"math"
	"sync"

	"attention/graph/mask"
	"attention/internal/dense"
	"attention/internal/expr"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Look is a model over a text.
type Look struct {
	Name      string        `json:"-"`     // of the model
	Steps     int           `json:"steps"` // of its run that the weights have had; 0 if that is not known
	Cut       int           `json:"cut"`   // number of tokens before the window, which the model does not see
	Whole     string        `json:"whole"` // the text; of a translation with the part that the model has written
	Sequences []Sequence    `json:"sequences"`
	Layers    []*Layer      `json:"layers"`
	Next      [][]Candidate `json:"next"` // the likeliest tokens after a text, or at each place of a translation
}

// Layer is one attention of a model, with its queries, keys and values.
type Layer struct {
	Path string `json:"path"`
	place
	Fixed    bool    `json:"fixed,omitempty"` // whether it has neither heads nor masks to change
	Heads    int     `json:"heads"`
	KeyHeads int     `json:"key_heads"` // each is shared by Heads/KeyHeads heads
	Width    int     `json:"width"`     // of a head's queries and keys, D
	T        int     `json:"t"`
	S        int     `json:"s"`
	Scale    float64 `json:"scale"`
	Softcap  float64 `json:"softcap,omitempty"`
	Additive bool    `json:"additive,omitempty"`
	Turned   bool    `json:"turned,omitempty"` // whether queries and keys are normalised or turned after the projection
	Sinks    bool    `json:"sinks,omitempty"`  // whether each head has a score without a key

	kept  layers.AttentionOperands // in a graph of their own
	shown Runs

	mu        sync.Mutex
	graph     *headGraph // nil before the first head's summary, and after the last one's
	summaries []*Summary // of each head; nil until they are asked for
}

// Runs is the keys that each query sees: query t sees the ranges Keys[2i] ≤ s < Keys[2i+1] for Start[t] ≤ i < Start[t+1].
type Runs struct {
	Start, Keys []uint32
}

// of returns the ranges of keys that a query sees.
func (r Runs) of(t int) []uint32 { return r.Keys[2*r.Start[t] : 2*r.Start[t+1]] }

// newLayer returns a layer with operands of a graph that has not run yet.
func newLayer(path string, at place, p layers.AttentionOperands) *Layer {
	c := p.Config
	l := &Layer{Path: path, place: at, Heads: max(1, c.Heads), T: p.Query.Shape()[0], S: p.Key.Shape()[0],
		Softcap: c.Softcap, Additive: p.Additive != nil, Sinks: c.Sinks != nil,
		Turned: p.ProjectedQuery != p.Query || p.ProjectedKey != p.Key, kept: p}
	l.KeyHeads, l.Width = cmp.Or(c.KVHeads, l.Heads), p.Query.Shape()[1]/l.Heads
	l.Scale = cmp.Or(c.Scale, 1/math.Sqrt(float64(l.Width)))
	if l.Additive {
		l.Scale = 1
	}
	l.summaries = make([]*Summary, l.Heads)
	return l
}

// keep copies the values of the operands, after the run of their graph.
func (l *Layer) keep() error {
	c := l.kept.Config
	if c.Bias != nil {
		return fmt.Errorf("%s: got a bias (T, S), which cannot be shown", l.Path)
	}
	err := expr.Building(func() (err error) { l.kept, err = l.kept.Kept(); return err })
	if err != nil {
		return err
	}
	l.shown, err = runsOf(l.kept.Config.Mask, l.T, l.S-c.ExtraKeys, c.ExtraKeys)
	return err
}

// float32sOf returns the value of a node in float32, which is not to be changed; nil for nil.
func float32sOf(n *G.Node) []float32 {
	if n == nil {
		return nil
	}
	v := n.Value().(*tensor.Dense)
	if v.Dtype() == tensor.Float32 {
		return v.Float32s()
	}
	return dense.Float32s(v, 0, v.Shape().TotalSize())
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

// addShown adds the runs of true in shown, whose first element is key lo.
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
