package machine

import (
	"errors"
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
)

// ForGraph plans a machine for a whole graph, as a replacement for gorgonia.NewTapeMachine. RunAll computes the nodes
// that no other node reads, the gradients of inputs that were requested, the nodes passed to gorgonia.Read, and the
// nodes that are a single number (such as a loss), and binds or reads their values. The machine does not keep the
// values of other nodes: Gorgonia's own n.Value() is nil after a run, and the machine's Value returns an error that
// names the node. gorgonia.Read before ForGraph keeps the value of one node, and GraphConfig{KeepAll: true} those of
// all nodes.
//
// Unlike on the tape machine, every run starts from nothing, with or without a Reset. Gradients are those of the last
// run: they do not add up over runs, and BindDualValues is not needed. n.Grad() of an input is a copy of its gradient,
// which a solver may clear: n.Deriv() keeps its value. Nodes added to the graph later are not run.
//
// As NewTapeMachine does, ForGraph puts gorgonia's ops that have a mode (BatchNorm, Dropout) into training. The running
// statistics of a BatchNorm that has some stay as they are. Each run uses the mode that an op has at that time: after
// SetTraining(false) of an op, the same machine evaluates.
//
// ForGraph returns an error for a graph that reads logarithms of a SoftMax as probabilities, as far as it can detect
// this (see the package's list of Gorgonia's faults).
func ForGraph(g *G.ExprGraph) (*Machine, error) { return GraphConfig{}.ForGraph(g) }

// GraphConfig sets options of a machine for a graph.
type GraphConfig struct {
	// KeepAll keeps the value of every node, as the tape machine does. Then no two values share memory.
	KeepAll bool
	// Evaluate runs the ops that have a mode in evaluation, as gorgonia.EvalMode does. After a run their modes are as
	// before, so that a training machine may run on the same graph.
	Evaluate bool
}

// ForGraph is the function ForGraph with the settings of c.
func (c GraphConfig) ForGraph(g *G.ExprGraph) (*Machine, error) {
	if g == nil {
		return nil, errors.New("machine: graph: got nil, want one")
	}
	if err := checkLogarithms(g); err != nil {
		return nil, err
	}
	f := &graphNodes{config: c, grads: map[*G.Node]G.Value{}}
	m, err := new(Arena).planned(f.wanted(g))
	if err != nil {
		return nil, err
	}
	for _, n := range g.AllNodes() {
		op, ok := n.Op().(G.TrainModeOp)
		if !ok {
			continue
		}
		f.modes = append(f.modes, op)
		if c.Evaluate {
			continue
		}
		if err := train(op); err != nil {
			return nil, fmt.Errorf("machine: %v: %w", n, err)
		}
	}
	m.graph, m.gradients = f, gradientsOf(g.AllNodes())
	return m, nil
}

// graphNodes lists the nodes that a machine for a graph has to update besides running it.
type graphNodes struct {
	config GraphConfig
	modes  []G.TrainModeOp
	grads  map[*G.Node]G.Value // the inputs' copies of them
	reads  []reader
	rest   G.Nodes // neither wanted nor inputs
}

// reader is a node made by gorgonia.Read.
type reader struct {
	from *G.Node
	into *G.Value
}

// wanted returns the nodes to compute, and records the other updates that a run has to make.
func (f *graphNodes) wanted(g *G.ExprGraph) (wanted G.Nodes) {
	all := g.AllNodes()
	if len(all) == 0 {
		return nil
	}
	exact := g.ExactSubgraphRoots(all...)
	isRead := map[*G.Node]bool{}
	for _, n := range all {
		in := children(exact, n)
		if into, ok := readsInto(n); ok {
			f.reads = append(f.reads, reader{in[0], into})
		}
		if isStatement(n) {
			continue
		}
		for _, child := range in {
			isRead[child] = true
		}
	}
	for _, n := range all {
		if n.Op() == nil || isStatement(n) {
			continue
		}
		ofInput := len(gradientsOf(G.Nodes{n})) > 0
		given := slices.ContainsFunc(f.reads, func(r reader) bool { return r.from == n })
		number := n.Shape().IsScalar() && !isConstant(n) && !isGradient(n)
		kept := f.config.KeepAll && !isConstant(n)
		if kept || ofInput || given || number || !isRead[n] && !isStray(n) {
			wanted = append(wanted, n)
		} else if !isConstant(n) {
			f.rest = append(f.rest, n)
		}
	}
	return wanted
}

// before removes the values of nodes that the machine does not compute.
func (f *graphNodes) before() {
	for _, n := range f.rest {
		if n.Value() != nil {
			bind(n, nil)
		}
	}
}

// after makes the updates that follow a run.
func (f *graphNodes) after(gradients []gradient) error {
	for _, d := range gradients {
		if d.node.Value() == nil { // an input that no node reads
			continue
		}
		if err := f.copyGradient(d.of, d.node.Value()); err != nil {
			return fmt.Errorf("machine: gradient of %v: %w", d.of, err)
		}
	}
	for _, r := range f.reads {
		if err := r.read(); err != nil {
			return fmt.Errorf("machine: reading %v: %w", r.from, err)
		}
	}
	return nil
}

// read copies the node's value as the tape machine does: into the existing value, or else into a new one.
func (r reader) read() (err error) {
	v := r.from.Value()
	if *r.into == nil {
		*r.into, err = G.CloneValue(v)
		return err
	}
	_, err = G.Copy(*r.into, v)
	return err
}
