package machine

import (
	"errors"
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
)

// ForGraph plans a machine for all that a graph is made for, to stand where
// gorgonia.NewTapeMachine stood. RunAll computes the nodes that no other node reads, the
// gradients of inputs that were asked for, the nodes given to gorgonia.Read and those that
// are a number (as a loss is), and binds or reads their values. Any other node's value is
// not kept: Gorgonia's own n.Value() is nil after a run, and the machine's Value is an
// error that names the node. gorgonia.Read before ForGraph keeps one, and
// GraphConfig{KeepAll: true} all of them.
//
// Unlike on the tape machine, every run begins anew, with or without a Reset. A gradient
// is the run's own: runs do not add up, and BindDualValues is not needed. n.Grad() of an
// input is a copy of it, which a solver may clear: n.Deriv() keeps its value. Nodes added
// to the graph later are not run.
//
// As NewTapeMachine does, ForGraph puts gorgonia's ops that have a mode (BatchNorm,
// Dropout) into training. The running statistics of a BatchNorm that has some stay as
// they are. The mode counts at each run: SetTraining(false) of an op makes the same machine
// evaluate.
//
// ForGraph refuses a graph that reads logarithms of a SoftMax as probabilities, as far as that can be told (see the
// package's faults of Gorgonia).
func ForGraph(g *G.ExprGraph) (*Machine, error) { return GraphConfig{}.ForGraph(g) }

// GraphConfig is what a machine for a graph does beyond ForGraph.
type GraphConfig struct {
	// KeepAll keeps the value of every node, as the tape machine does. No two values then
	// share memory.
	KeepAll bool
	// Evaluate runs the ops that have a mode in evaluation, as gorgonia.EvalMode does. After
	// a run they are in the mode that they were in before, so that a machine that trains
	// may run on the same graph.
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

// graphNodes is what a machine for a graph does besides running it.
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

// wanted returns the nodes that are to be computed, and keeps what else there is to do.
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

// before forgets the values of nodes that the machine does not compute.
func (f *graphNodes) before() {
	for _, n := range f.rest {
		if n.Value() != nil {
			bind(n, nil)
		}
	}
}

// after does what follows a run.
func (f *graphNodes) after(gradients []gradient) error {
	for _, d := range gradients {
		if d.node.Value() == nil { // an input that nothing reads
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

// read copies the node's value, as the tape machine does: into the value that is there, else into a new one.
func (r reader) read() (err error) {
	v := r.from.Value()
	if *r.into == nil {
		*r.into, err = G.CloneValue(v)
		return err
	}
	_, err = G.Copy(*r.into, v)
	return err
}
