package look

import (
	"fmt"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"
	"attention/internal/expr"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// mostImplied is the most tokens of a text whose implied weights, T² of each head, are computed.
const mostImplied = 2048

// newLinearLayer returns a layer of linear attention, with operands of a graph that has not run yet.
func newLinearLayer(path string, at place, o layers.LinearOperands) *Layer {
	T := o.Query.Shape()[0]
	l := &Layer{Path: path, place: at, Linear: true, Fixed: true, Heads: o.Config.Heads, KeyHeads: o.Config.KVHeads,
		Width: o.Query.Shape()[1] / o.Config.Heads, T: T, S: T, linear: o}
	l.summaries = make([]*Summary, l.Heads)
	return l
}

// keepLinear copies the operands, after the run of their graph.
func (l *Layer) keepLinear() (err error) {
	if l.linear, err = l.linear.Kept(); err != nil {
		return err
	}
	causal := layers.ShownKeys{Start: []uint32{0}}
	for t := range uint32(l.T) {
		causal.Keys = append(causal.Keys, 0, t+1)
		causal.Start = append(causal.Start, t+1)
	}
	l.shown = []layers.ShownKeys{causal}
	return nil
}

// impliedGraph adds the weights that a head's state implies, and their statistics: those of an attention whose scores
// are the logarithms of the weights' sizes, which divides these by their sum.
func (l *Layer) impliedGraph(g *headGraph, head int) (o layers.AttentionOperands, err error) {
	if l.T > mostImplied {
		return o, fmt.Errorf("text: got %d tokens, want at most %d to see what a state implies", l.T, mostImplied)
	}
	of, err := l.linear.Head(head)
	if err != nil {
		return o, err
	}
	var f expr.Formula
	g.weights, g.norms = f.Of(of.Weights()), f.Of(of.StateNorms())
	if f.Err() != nil {
		return o, f.Err()
	}
	logs := f.Of(G.Log(f.Of(G.Abs(g.weights)))) // (1, T, T)
	none := G.NewMatrix(g.weights.Graph(), tensor.Float32, G.WithShape(l.T, 1), G.WithName("no query"),
		G.WithInit(G.Zeroes()))
	o.Query, o.Key = none, none
	o.Config = graph.AttentionConfig{Heads: 1, Bias: logs, Mask: mask.Causal{}}
	return o, f.Err()
}

// Implied returns the weights (T, T) that the state of a head of linear attention implies, the largest size in each
// row, and the norm of the state after each token.
func (l *Layer) Implied(head int) (weights, most, norms []float32, err error) {
	g := new(headGraph)
	err = expr.Building(func() error {
		if _, err := l.impliedGraph(g, head); err != nil {
			return err
		}
		g.machine, err = machine.New(g.weights, g.norms)
		return err
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
