package forward

import (
	"fmt"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/expr"
	"attention/layers"
	"attention/layers/heads"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// mostImplied is the largest number of tokens for which the implied weights, T² for each head, are computed.
const mostImplied = 2048

// newLinearLayer returns a layer of linear attention, with operands of a graph that has not run yet.
func newLinearLayer(path string, at place, o layers.LinearOperands) *Layer {
	T := o.Query.Shape()[0]
	l := &Layer{Path: path, place: at, Linear: true, Fixed: true, Heads: o.Config.Heads, KeyHeads: o.Config.KVHeads,
		Width: o.Query.Shape()[1] / o.Config.Heads, T: T, S: T, linear: o}
	l.summaries, l.common = make([]*Summary, l.Heads), new(common)
	return l
}

// keepLinear copies the operands, after the run of their graph.
func (l *Layer) keepLinear() (err error) {
	if l.linear, err = heads.KeepLinear(l.linear); err != nil {
		return err
	}
	causal := heads.Keys{Start: []uint32{0}}
	for t := range uint32(l.T) {
		causal.Keys = append(causal.Keys, 0, t+1)
		causal.Start = append(causal.Start, t+1)
	}
	l.shown = []heads.Keys{causal}
	return nil
}

// addImplied adds the weights that a head's state implies.
func (l *Layer) addImplied(g *headGraph, head int) (err error) {
	if l.T > mostImplied {
		return fmt.Errorf("text: got %d tokens, want at most %d to see what a state implies", l.T, mostImplied)
	}
	g.weights, g.norms, err = heads.Implied(l.linear, head)
	return err
}

// addImpliedStats adds the statistics of the implied weights as well. They are those of an attention whose scores are
// the logarithms of the absolute weights; this attention divides the absolute weights by their sum.
func (l *Layer) addImpliedStats(g *headGraph, head int) error {
	if err := l.addImplied(g, head); err != nil {
		return err
	}
	var f expr.Formula
	logs := f.Of(G.Log(f.Of(G.Abs(g.weights)))) // (1, T, T)
	if f.Err() != nil {
		return f.Err()
	}
	of := g.weights.Graph()
	none := G.NewMatrix(of, tensor.Float32, G.WithShape(l.T, 1), G.WithName("no query"), G.WithInit(G.Zeroes()))
	g.head = G.NewScalar(of, tensor.Int, G.WithName("head"))
	c := graph.AttentionConfig{Heads: 1, Bias: logs, Mask: mask.Causal{}}
	r, err := graph.FusedAttention(graph.FusedInputs{Query: none, Key: none, Head: g.head}, c)
	g.stats = r.Stats
	return err
}

// Implied returns the weights (T, T) that the state of a head of linear attention implies, the largest absolute weight
// in each row, and the norm of the state after each token.
func (l *Layer) Implied(head int) (weights, most, norms []float32, err error) {
	g := new(headGraph)
	g.machine, err = plan(func() (G.Nodes, error) {
		err := l.addImplied(g, head)
		return G.Nodes{g.weights, g.norms}, err
	})
	if err != nil {
		return nil, nil, nil, err
	}
	defer g.close()
	if err := g.machine.RunAll(); err != nil {
		return nil, nil, nil, err
	}
	weights, most = append(weights, float32sOf(g.weights)...), make([]float32, l.T)
	for i, w := range weights {
		most[i/l.T] = max(most[i/l.T], w, -w)
	}
	return weights, most, append(norms, float32sOf(g.norms)...), nil
}
