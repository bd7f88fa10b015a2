package look

import (
	"attention/graph"
	"attention/graph/machine"
	"attention/internal/expr"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// headGraph computes statistics of a layer's heads. The number of the head is its input, so that one plan serves all
// heads.
type headGraph struct {
	head    *G.Node
	stats   *graph.AttentionStats
	largest *G.Node // the largest weights of cells
	machine *machine.Machine

	weights, norms *G.Node // of linear attention: see Layer.Implied
}

// newHeadGraph plans the statistics, with the cells that largest makes. They are computed from the layer's own memory.
// The graph of a layer of linear attention is for one head alone.
func (l *Layer) newHeadGraph(head int, largest func(s *graph.AttentionStats) (*G.Node, error)) (*headGraph, error) {
	g := new(headGraph)
	err := expr.Building(func() error {
		o, err := l.operands(g, head)
		if err != nil {
			return err
		}
		g.head = G.NewScalar(o.Query.Graph(), tensor.Int, G.WithName("head"))
		if g.stats, err = o.HeadStats(g.head); err != nil {
			return err
		}
		if g.largest, err = largest(g.stats); err != nil {
			return err
		}
		s := g.stats
		g.machine, err = machine.New(s.LogSumExp, s.MaxScore, s.Entropy, s.First, s.Own, s.Previous, s.Distance, g.largest)
		return err
	})
	return g, err
}

// operands returns the operands of the layer, or those of a head of linear attention.
func (l *Layer) operands(g *headGraph, head int) (layers.AttentionOperands, error) {
	if l.Linear {
		return l.impliedGraph(g, head)
	}
	return l.kept.Shared()
}

// run computes the nodes for a head.
func (g *headGraph) run(head int) error {
	if g.weights != nil {
		head = 0 // it is alone
	}
	if err := G.Let(g.head, head); err != nil {
		return err
	}
	return g.machine.RunAll()
}

func (g *headGraph) close() { _ = g.machine.Close() } // it never fails
