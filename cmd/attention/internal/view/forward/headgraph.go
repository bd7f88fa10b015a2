package forward

import (
	"attention/graph"
	"attention/graph/machine"
	"attention/layers/heads"

	G "gorgonia.org/gorgonia"
)

// headGraph computes statistics of a layer's heads. The index of the head is an input of the graph, so that one plan
// serves all heads.
type headGraph struct {
	head    *G.Node
	stats   *graph.AttentionStats
	largest *G.Node // the largest weights of blocks
	machine *machine.Machine

	weights, norms *G.Node // for linear attention: see Layer.Implied
}

// newHeadGraph plans the statistics, with the cells that largest makes. The graph reads the memory of the layer itself.
// The graph of a layer of linear attention is for one head alone.
func (l *Layer) newHeadGraph(head int, largest func(s *graph.AttentionStats) (*G.Node, error)) (*headGraph, error) {
	g := new(headGraph)
	var err error
	g.machine, err = plan(func() (G.Nodes, error) {
		if err := l.addStats(g, head); err != nil {
			return nil, err
		}
		s := g.stats
		g.largest, err = largest(s)
		return G.Nodes{s.LogSumExp, s.MaxScore, s.Entropy, s.First, s.Own, s.Previous, s.Distance, g.largest}, err
	})
	return g, err
}

// addStats adds the statistics of the layer's heads, or those of one head of linear attention.
func (l *Layer) addStats(g *headGraph, head int) (err error) {
	if l.Linear {
		return l.addImpliedStats(g, head)
	}
	g.head, g.stats, err = heads.Stats(l.kept)
	return err
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
