package look

import (
	"attention/graph"
	"attention/graph/machine"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// headGraph computes statistics of a layer's heads. The number of the head is its input, so that one plan serves all
// heads.
type headGraph struct {
	head      *G.Node
	stats     *graph.AttentionStats
	thumbnail *G.Node
	machine   *machine.Machine
}

// newHeadGraph plans the nodes that wanted makes of the statistics. They are computed from the layer's own memory.
func (l *Layer) newHeadGraph(wanted func(g *headGraph) (G.Nodes, error)) (*headGraph, error) {
	g := new(headGraph)
	err := expr.Building(func() error {
		o, err := l.kept.Shared()
		if err != nil {
			return err
		}
		g.head = G.NewScalar(o.Query.Graph(), tensor.Int, G.WithName("head"))
		if g.stats, err = o.HeadStats(g.head); err != nil {
			return err
		}
		nodes, err := wanted(g)
		if err != nil {
			return err
		}
		g.machine, err = machine.New(nodes...)
		return err
	})
	return g, err
}

// summarizing returns the nodes of a summary.
func (g *headGraph) summarizing() (_ G.Nodes, err error) {
	s := g.stats
	g.thumbnail, err = s.LargestTo(thumbnailSide, thumbnailSide)
	return G.Nodes{s.LogSumExp, s.MaxScore, s.Entropy, s.First, s.Own, s.Previous, s.Distance, g.thumbnail}, err
}

// run computes the nodes for a head.
func (g *headGraph) run(head int) error {
	if err := G.Let(g.head, head); err != nil {
		return err
	}
	return g.machine.RunAll()
}

// pooled returns the largest weight of each block of size × size of a head. Its graph is not kept: the memory is that
// of the blocks.
func (l *Layer) pooled(head, size int) ([]float32, error) {
	var largest *G.Node
	g, err := l.newHeadGraph(func(g *headGraph) (_ G.Nodes, err error) {
		largest, err = g.stats.Largest(size, size)
		return G.Nodes{largest}, err
	})
	if err != nil {
		return nil, err
	}
	defer g.machine.Close()
	if err := g.run(head); err != nil {
		return nil, err
	}
	return float32sOf(largest), nil
}
