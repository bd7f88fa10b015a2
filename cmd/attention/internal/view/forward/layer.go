package forward

import (
	"cmp"
	"fmt"
	"math"
	"sync"

	"attention/graph/mask"
	"attention/internal/dense"
	"attention/internal/expr"
	"attention/layers"
	"attention/layers/heads"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Pass is a model over a text.
type Pass struct {
	Name      string        `json:"-"`     // of the model
	Steps     int           `json:"steps"` // number of the run's steps that the weights had; 0 if that is not known
	Cut       int           `json:"cut"`   // number of tokens before the window, which the model does not see
	Whole     string        `json:"whole"` // the text; of a translation with the part that the model has written
	Sequences []Sequence    `json:"sequences"`
	Layers    []*Layer      `json:"layers"`
	Next      [][]Candidate `json:"next"` // the likeliest tokens after a text, or at each position of a translation

	expects  []expected // at each of these positions
	journeys journeys
}

// Layer is one attention layer of a model, with its queries, keys and values.
type Layer struct {
	Path string `json:"path"`
	place
	Fixed    bool    `json:"fixed,omitempty"` // whether neither its heads nor its masks can be changed
	Heads    int     `json:"heads"`
	KeyHeads int     `json:"key_heads"` // each is shared by Heads/KeyHeads heads
	Width    int     `json:"width"`     // width D of a head's queries and keys
	T        int     `json:"t"`
	S        int     `json:"s"`
	Scale    float64 `json:"scale"`
	Softcap  float64 `json:"softcap,omitempty"`
	Additive bool    `json:"additive,omitempty"`
	Turned   bool    `json:"turned,omitempty"` // whether queries and keys are normalised or rotated after the projection
	Sinks    bool    `json:"sinks,omitempty"`  // whether each head has a score without a key
	// Whether weights are sigmoids of scores plus a bias.
	Sigmoid     bool    `json:"sigmoid,omitempty"`
	SigmoidBias float64 `json:"sigmoid_bias,omitempty"`
	// Whether the layer is linear attention. Its weights are those that its state implies: see Implied.
	Linear bool `json:"linear,omitempty"`

	kept   layers.AttentionOperands // nodes of their own graph
	linear layers.LinearOperands    // the same for linear attention
	shown  []heads.Keys             // of all heads, or one for each head

	queryTokens, keyTokens []Token
	common                 *common // together with the other layers between the same sequences

	mu        sync.Mutex
	graph     *headGraph // nil before the first head's summary, and after the last one's
	summaries []*Summary // one for each head; nil until they are requested
}

// newLayer returns a layer with operands of a graph that has not run yet.
func newLayer(path string, at place, p layers.AttentionOperands) *Layer {
	c := p.Config
	l := &Layer{Path: path, place: at, Heads: max(1, c.Heads), T: p.Query.Shape()[0], S: p.Key.Shape()[0],
		Softcap: c.Softcap, Additive: p.Additive != nil, Sinks: c.Sinks != nil, Sigmoid: c.Sigmoid, SigmoidBias: c.SigmoidBias,
		Turned: p.ProjectedQuery != p.Query || p.ProjectedKey != p.Key, kept: p}
	l.KeyHeads, l.Width = cmp.Or(c.KVHeads, l.Heads), p.Query.Shape()[1]/l.Heads
	l.Scale = cmp.Or(c.Scale, 1/math.Sqrt(float64(l.Width)))
	if l.Additive {
		l.Scale = 1
	}
	l.summaries, l.common = make([]*Summary, l.Heads), new(common)
	return l
}

// keep copies the values of the operands, after the run of their graph.
func (l *Layer) keep() error {
	if l.Linear {
		return expr.Building(l.keepLinear)
	}
	if l.kept.Config.Bias != nil {
		return fmt.Errorf("%s: got a bias (T, S), which cannot be shown", l.Path)
	}
	if l.kept.Config.Score != nil {
		return fmt.Errorf("%s: got %v, which cannot be shown", l.Path, l.kept.Config.Score)
	}
	err := expr.Building(func() (err error) { l.kept, err = heads.Keep(l.kept); return err })
	if err != nil {
		return err
	}
	l.shown = make([]heads.Keys, 1)
	if _, blocks := mask.WithoutBlocks(l.kept.Config.Mask); blocks != nil {
		l.shown = make([]heads.Keys, l.Heads)
	}
	for head := range l.shown {
		if l.shown[head], err = heads.Shown(l.kept, head); err != nil {
			return err
		}
	}
	return nil
}

// seen returns the ranges of keys that query t of a head sees, as pairs of the first key and the end.
func (l *Layer) seen(head, t int) []uint32 {
	shown := &l.shown[head%len(l.shown)]
	return shown.Keys[2*shown.Start[t] : 2*shown.Start[t+1]]
}

// Head returns the operands of a head, and the ranges of keys that its queries see.
func (l *Layer) Head(head int) (heads.Operands, heads.Keys, error) {
	h, err := heads.Of(l.kept, head)
	if err != nil {
		return h, heads.Keys{}, err
	}
	return h, l.shown[head%len(l.shown)], nil
}

// float32sOf returns the value of a node in float32, or nil for nil. The caller must not change it.
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
