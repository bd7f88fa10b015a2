// Package machine runs Gorgonia graphs. Its gorgonia.VM computes only the wanted nodes,
// plans their memory once and reuses it in every run.
//
// Gorgonia's own tape machine computes every node of the graph, wanted or not, and
// allocates every intermediate in each run.
package machine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Machine computes nodes of one graph. It must not be used by several goroutines at once.
type Machine struct {
	steps  []step
	wanted []int // steps whose values the caller wants
	slabs  []*slab
	memory Memory
}

var _ G.VM = (*Machine)(nil)

// step computes one node.
type step struct {
	node    *G.Node
	op      G.Op          // nil for an input
	inputs  []int         // steps
	in      []G.Value     // their values, set in each run
	into    *tensor.Dense // memory to compute into, or nil
	view    bool          // into is a part of an input's memory: nothing to compute
	value   G.Value
	verdict verdict // of FindNotFinite
}

// Overwriter is an op that can compute into planned memory. Other ops allocate their
// results in each run.
type Overwriter interface {
	G.UsePreallocDoer
	// OverwritesPrealloc reports whether UsePreallocDo overwrites all of its memory and
	// never returns a view of an input.
	OverwritesPrealloc() bool
	// InPlace returns the input whose memory the result may overwrite once no other op
	// reads it; −1 for none.
	InPlace() int
	// View returns the input of which the result is a part and the element where that
	// part begins; the op then need not run. The input is −1 for an op that computes.
	View() (input, from int)
}

// New plans a machine for the wanted nodes of one graph. RunAll binds their values to
// them: node.Value(), and for a gradient also the variable's Grad(). The values lie in
// the machine's memory, which the next run overwrites: copy what must outlive it. Nodes
// made by gorgonia.Read and gorgonia.Set are not run; ask for the node itself.
func New(wanted ...*G.Node) (*Machine, error) {
	if len(wanted) == 0 {
		return nil, fmt.Errorf("machine: wanted: got no node, want at least one")
	}
	for i, n := range wanted {
		if n == nil || n.Graph() == nil || n.Graph() != wanted[0].Graph() {
			return nil, fmt.Errorf("machine: wanted: node %d is nil or of another graph, want nodes of one graph", i)
		}
	}
	// A subgraph, since Gorgonia looks up nodes by an index that is stale once a node was
	// removed, which Grad does.
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

// children returns a node's inputs, in order.
func children(g *G.ExprGraph, n *G.Node) G.Nodes {
	var in G.Nodes
	for it := g.From(n.ID()); it != nil && it.Next(); {
		in = append(in, it.Node().(*G.Node))
	}
	return in
}

// sortNodes returns the nodes that wanted depends on, each after its inputs.
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

// RunAll computes the wanted nodes from the inputs' current values.
func (m *Machine) RunAll() error { return m.Run(context.Background()) }

// Run is RunAll, but stops between two ops when the context is done and returns its
// error.
func (m *Machine) Run(ctx context.Context) error {
	if err := m.open(); err != nil {
		return err
	}
	if ctx == nil {
		return errors.New("machine: context: got nil, want one")
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

// open refuses a machine that cannot run.
func (m *Machine) open() error {
	if m == nil {
		return errors.New("machine: got nil, want a machine of New")
	}
	if m.steps == nil {
		return errors.New("machine: the machine is closed")
	}
	return nil
}

// Reset does nothing: every run starts at the first node and keeps no state.
func (m *Machine) Reset() {}

// Close releases the planned memory. A closed machine does not run.
func (m *Machine) Close() error {
	if m != nil {
		m.steps, m.wanted, m.slabs = nil, nil, nil
	}
	return nil
}

// owns reports whether a value lies in the machine's planned memory.
func (m *Machine) owns(v G.Value) bool {
	d, ok := v.(*tensor.Dense)
	return ok && slices.ContainsFunc(m.slabs, func(s *slab) bool { return s.holds(d.Uintptr()) })
}

// Memory returns the size of the machine's intermediate values.
func (m *Machine) Memory() Memory {
	if m == nil {
		return Memory{}
	}
	return m.memory
}

// checkInput returns an error unless a value has the input's type and shape: Gorgonia
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
			// The value is a result of the last run, and this run overwrites it.
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
