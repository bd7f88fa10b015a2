package machine

import (
	"slices"

	"attention/internal/stock"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// slicer is Gorgonia's Slice and its gradient.
type slicer interface{ IsSlice() tensor.Slice }

// plan decides which steps a run computes, and in which memory.
func (m *Machine) plan() {
	m.release()
	steps, wanted := rematerialize(stepsOf(m.nodes), m.nodes), []int(nil)
	for i := range steps {
		if !steps[i].again && slices.Contains(m.nodes, steps[i].node) {
			wanted = append(wanted, i)
		}
	}
	m.slabs, m.memory = planMemory(m.arena, steps, wanted)
	m.steps, m.wanted = steps, wanted
	m.findMapped()
}

// isStale reports whether the machine has no plan, or gorgonia.UnsafeLet has changed a slice since the planning.
func (m *Machine) isStale() bool {
	return len(m.steps) == 0 || slices.ContainsFunc(m.steps, func(s step) bool {
		return s.slice != nil && s.node.Op().(slicer).IsSlice() != s.slice
	})
}

// wantedGraph is the graph of the wanted nodes. It is a subgraph, since Gorgonia looks up nodes by an index that
// becomes wrong when a node is removed, as Grad does.
type wantedGraph struct {
	*G.ExprGraph
	readers map[*G.Node]int // number of readers of a node; 2 more if it is wanted
}

func wantedGraphOf(wanted G.Nodes) wantedGraph {
	g := wantedGraph{wanted[0].Graph().ExactSubgraphRoots(wanted...), map[*G.Node]int{}}
	for _, n := range wanted {
		g.readers[n] += 2 // so that it never counts as read by a single node
	}
	for _, n := range g.AllNodes() {
		for _, child := range g.Inputs(n) {
			g.readers[child]++
		}
	}
	return g
}

// Inputs returns a node's inputs, in order.
func (g wantedGraph) Inputs(n *G.Node) G.Nodes { return children(g.ExprGraph, n) }

// OnlyOneReads reports whether exactly one node needs another node's value.
func (g wantedGraph) OnlyOneReads(n *G.Node) bool { return g.readers[n] == 1 }

// stepsOf returns the steps that compute the wanted nodes, each after its inputs.
func stepsOf(wanted G.Nodes) (steps []step) {
	if len(wanted) == 0 {
		return nil
	}
	g := wantedGraphOf(wanted)
	at := map[*G.Node]int{}
	var visit func(n *G.Node) int
	visit = func(n *G.Node) int {
		if i, ok := at[n]; ok {
			return i
		}
		in := g.Inputs(n)
		s := step{node: n, shape: n.Shape(), op: n.Op()}
		if op, ok := s.op.(slicer); ok {
			s.slice = op.IsSlice()
		}
		if op := stock.Of(n, g); op != nil {
			s.op, in = op, op.Inputs()
			if add, reads := additionOf(op, g); add != nil {
				s.op, in = add, reads
			}
			if v := op.Value(); v != nil {
				s.into, s.view = v, true
			}
		}
		for _, child := range in {
			s.inputs = append(s.inputs, visit(child))
		}
		s.in = make([]G.Value, len(in))
		at[n] = len(steps)
		steps = append(steps, s)
		return at[n]
	}
	for _, n := range g.inOrder(wanted) {
		visit(n)
	}
	return steps
}

// children returns a node's inputs, in order.
func children(g *G.ExprGraph, n *G.Node) G.Nodes {
	var in G.Nodes
	for it := g.From(n.ID()); it != nil && it.Next(); {
		in = append(in, it.Node().(*G.Node))
	}
	return in
}
