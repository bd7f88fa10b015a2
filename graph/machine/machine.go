// Package machine runs Gorgonia graphs: a gorgonia.VM that is asked for the nodes
// that are wanted, leaves out the rest, plans their memory once and uses it again
// in every run.
//
// Gorgonia's own tape machine computes every node of the graph, also gradients
// that nobody asked for, and allocates every intermediate anew in each run.
package machine

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Machine computes some nodes of one graph as often as it is asked to. It is not
// safe for use by several goroutines at once.
type Machine struct {
	steps []step
	roots map[*G.Node]bool
}

var _ G.VM = (*Machine)(nil)

// step computes one node.
type step struct {
	node   *G.Node
	inputs []*step
	into   *tensor.Dense // memory that is the op's to overwrite, or nil
	value  G.Value
}

// Overwriter is an op that fills the memory given to UsePreallocDo whatever it
// held before and never returns a view of its inputs. Only such ops compute into
// planned memory; others allocate their own.
type Overwriter interface {
	G.UsePreallocDoer
	OverwritesPrealloc() bool
}

// New plans a machine for the wanted nodes of one graph. After each RunAll their
// values are bound to them: node.Value(), and for a gradient also the variable's
// Grad().
func New(wanted ...*G.Node) (*Machine, error) {
	if len(wanted) == 0 {
		return nil, fmt.Errorf("machine: wanted: got no node, want at least one")
	}
	m := &Machine{roots: map[*G.Node]bool{}}
	for i, n := range wanted {
		if n == nil || n.Graph() == nil || n.Graph() != wanted[0].Graph() {
			return nil, fmt.Errorf("machine: wanted: node %d is nil or of another graph, want nodes of one graph", i)
		}
		m.roots[n] = true
	}
	// A subgraph of its own, since Gorgonia looks up nodes by an index that goes
	// stale once a graph has had a node removed, as Grad does.
	g := wanted[0].Graph().ExactSubgraphRoots(wanted...)
	order := sortNodes(g, wanted)
	m.steps = make([]step, len(order))
	at := make(map[*G.Node]int, len(order))
	for i, n := range order {
		at[n] = i
		m.steps[i].node = n
		for _, child := range children(g, n) {
			m.steps[i].inputs = append(m.steps[i].inputs, &m.steps[at[child]])
		}
	}
	planMemory(m.steps, at, m.roots)
	return m, nil
}

// children are a node's inputs, in order.
func children(g *G.ExprGraph, n *G.Node) G.Nodes {
	var in G.Nodes
	for it := g.From(n.ID()); it != nil && it.Next(); {
		in = append(in, it.Node().(*G.Node))
	}
	return in
}

// sortNodes lists the nodes that wanted needs, each after its inputs.
func sortNodes(g *G.ExprGraph, wanted G.Nodes) G.Nodes {
	var order G.Nodes
	seen := map[*G.Node]bool{}
	var visit func(n *G.Node)
	visit = func(n *G.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		for _, child := range children(g, n) {
			visit(child)
		}
		order = append(order, n)
	}
	for _, n := range wanted {
		visit(n)
	}
	return order
}

// RunAll computes the wanted nodes from the values that the inputs hold now.
func (m *Machine) RunAll() error {
	for i := range m.steps {
		if err := m.steps[i].run(); err != nil {
			return err
		}
	}
	for i := range m.steps {
		s := &m.steps[i]
		if m.roots[s.node] && s.node.Op() != nil {
			if err := G.UnsafeLet(s.node, s.value); err != nil {
				return fmt.Errorf("machine: binding %v: %w", s.node, err)
			}
		}
	}
	return nil
}

// Reset does nothing: a run always starts at the beginning and keeps no state.
func (m *Machine) Reset() {}

// Close lets go of the planned memory; the machine cannot run any more.
func (m *Machine) Close() error {
	m.steps = nil
	return nil
}

func (s *step) run() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("machine: %v: panic: %v", s.node, r)
		}
	}()
	op := s.node.Op()
	if op == nil {
		if s.value = s.node.Value(); s.value == nil {
			return fmt.Errorf("machine: input %q has no value; bind one with gorgonia.Let", s.node.Name())
		}
		return nil
	}
	in := make([]G.Value, len(s.inputs))
	for i, input := range s.inputs {
		in[i] = input.value
	}
	if s.into != nil {
		s.value, err = op.(Overwriter).UsePreallocDo(s.into, in...)
	} else {
		s.value, err = op.Do(in...)
	}
	if err != nil {
		return fmt.Errorf("machine: %w", err)
	}
	return nil
}
