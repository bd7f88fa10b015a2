// Package machine runs Gorgonia graphs: a gorgonia.VM that is asked for the nodes
// that are wanted, leaves out the rest, plans their memory once and uses it again
// in every run.
//
// Gorgonia's own tape machine computes every node of the graph, also gradients
// that nobody asked for, and allocates every intermediate anew in each run.
package machine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Machine computes some nodes of one graph as often as it is asked to. It is not
// safe for use by several goroutines at once.
type Machine struct {
	steps  []step
	wanted []int // steps whose values are asked for
	slabs  []*slab
	memory Memory
}

var _ G.VM = (*Machine)(nil)

// step computes one node.
type step struct {
	node    *G.Node
	op      G.Op          // nil for an input
	inputs  []int         // steps
	in      []G.Value     // their values, gathered anew in each run
	into    *tensor.Dense // memory that the op is to compute into, or nil
	view    bool          // into is a part of an input's memory, and there is nothing to compute
	value   G.Value
	verdict verdict // of FindNotFinite
}

// Overwriter is an op that can compute into memory planned for it. Others allocate
// their results in each run.
type Overwriter interface {
	G.UsePreallocDoer
	// OverwritesPrealloc says that UsePreallocDo fills all the memory it is given,
	// whatever it held, and never returns a view of an input.
	OverwritesPrealloc() bool
	// InPlace is the input whose own memory the result may be computed into, if
	// nobody else needs it any more; −1 for none.
	InPlace() int
	// View is the input that the result is a part of, and the element where that
	// part begins; the op then need not run. It is −1 for an op that computes.
	View() (input, from int)
}

// New plans a machine for the wanted nodes of one graph. After each RunAll their
// values are bound to them: node.Value(), and for a gradient also the variable's
// Grad(). The values lie in the machine's memory; the next run overwrites them, so
// copy what must outlive it. Nodes made by gorgonia.Read and gorgonia.Set are not run; ask for the
// node itself.
func New(wanted ...*G.Node) (*Machine, error) {
	if len(wanted) == 0 {
		return nil, fmt.Errorf("machine: wanted: got no node, want at least one")
	}
	for i, n := range wanted {
		if n == nil || n.Graph() == nil || n.Graph() != wanted[0].Graph() {
			return nil, fmt.Errorf("machine: wanted: node %d is nil or of another graph, want nodes of one graph", i)
		}
	}
	// A subgraph of its own, since Gorgonia looks up nodes by an index that goes
	// stale once a graph has had a node removed, as Grad does.
	g := wanted[0].Graph().ExactSubgraphRoots(wanted...)
	order := sortNodes(g, wanted)
	m := &Machine{steps: make([]step, len(order))}
	at := make(map[*G.Node]int, len(order))
	for i, n := range order {
		at[n] = i
		s := &m.steps[i]
		s.node, s.op = n, n.Op()
		in := children(g, n)
		for _, child := range in {
			s.inputs = append(s.inputs, at[child])
		}
		if isSum(n, in) {
			s.op = sum{s.op}
		}
		s.in = make([]G.Value, len(s.inputs))
	}
	for _, n := range wanted {
		m.wanted = append(m.wanted, at[n])
	}
	m.slabs, m.memory = planMemory(m.steps, m.wanted)
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
func (m *Machine) RunAll() error { return m.Run(context.Background()) }

// Run is RunAll that stops between two ops when the context is done, with the
// context's error.
func (m *Machine) Run(ctx context.Context) error {
	if m.steps == nil {
		return errClosed
	}
	for i := range m.steps {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("machine: stopped at op %d of %d: %w", i, len(m.steps), err)
		}
		if err := m.run(&m.steps[i]); err != nil {
			return err
		}
	}
	for _, i := range m.wanted {
		if s := &m.steps[i]; s.op != nil {
			if err := G.UnsafeLet(s.node, s.value); err != nil {
				return fmt.Errorf("machine: binding %v: %w", s.node, err)
			}
		}
	}
	return nil
}

var errClosed = errors.New("machine: the machine is closed")

// Reset does nothing: a run always starts at the beginning and keeps no state.
func (m *Machine) Reset() {}

// Close lets go of the planned memory; the machine computes nothing any more.
func (m *Machine) Close() error {
	m.steps, m.wanted, m.slabs = nil, nil, nil
	return nil
}

// owns says whether a value lies in the machine's planned memory.
func (m *Machine) owns(v G.Value) bool {
	d, ok := v.(*tensor.Dense)
	return ok && slices.ContainsFunc(m.slabs, func(s *slab) bool { return s.holds(d.Uintptr()) })
}

// Memory is how much memory the machine's intermediate values take.
func (m *Machine) Memory() Memory { return m.memory }

// checkInput refuses a value that is not what the input was declared to be: Gorgonia
// binds a scalar of any type to any node.
func checkInput(n *G.Node, v G.Value) error {
	if v.Dtype() != n.Dtype() || !slices.Equal(v.Shape(), n.Shape()) && v.Shape().TotalSize()*n.Shape().TotalSize() != 1 {
		return fmt.Errorf("machine: input %q: got %v %v, want %v %v", n.Name(), v.Dtype(), v.Shape(), n.Dtype(), n.Shape())
	}
	return nil
}

func (m *Machine) run(s *step) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("machine: %v: panic: %v", s.node, r)
		}
	}()
	if s.op == nil {
		if s.value = s.node.Value(); s.value == nil {
			return fmt.Errorf("machine: input %q has no value; bind one with gorgonia.Let", s.node.Name())
		}
		if err := checkInput(s.node, s.value); err != nil {
			return err
		}
		if m.owns(s.value) {
			// A result of the last run is an input of this one, which overwrites it.
			s.value = s.value.(*tensor.Dense).Clone().(*tensor.Dense)
		}
		return nil
	}
	if s.view {
		s.value = s.into
		return nil
	}
	for i, j := range s.inputs {
		s.in[i] = m.steps[j].value
	}
	if s.into != nil {
		s.value, err = s.op.(Overwriter).UsePreallocDo(s.into, s.in...)
	} else {
		s.value, err = s.op.Do(s.in...)
	}
	if err != nil {
		return fmt.Errorf("machine: %w", err)
	}
	return nil
}
