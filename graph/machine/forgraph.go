package machine

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	G "gorgonia.org/gorgonia"
)

// ForGraph plans a machine for all that a graph is made for, to stand where
// gorgonia.NewTapeMachine stood. RunAll computes the nodes that no other node reads, the
// gradients of inputs that were asked for, the nodes given to gorgonia.Read and those that
// are a number (as a loss is), and binds or reads their values. Any other node's Value() is
// nil after a run.
//
// Unlike on the tape machine, every run begins anew, with or without a Reset. A gradient
// is the run's own: runs do not add up, and BindDualValues is not needed. Nodes added to
// the graph later are not run.
//
// As NewTapeMachine does, ForGraph puts gorgonia's ops that have a mode (BatchNorm,
// Dropout) into training, where the statistics of BatchNorm begin anew. The mode counts at
// each run: SetTraining(false) of an op makes the same machine evaluate.
func ForGraph(g *G.ExprGraph) (*Machine, error) {
	if g == nil {
		return nil, errors.New("machine: graph: got nil, want one")
	}
	f := &graphNodes{}
	wanted := f.wanted(g)
	if len(wanted) == 0 {
		return nil, errors.New("machine: graph: got a graph without an op, want something to compute")
	}
	m, err := New(wanted...)
	if err != nil {
		return nil, err
	}
	for _, n := range g.AllNodes() {
		if op, ok := n.Op().(G.TrainModeOp); ok {
			if err := op.SetTraining(true); err != nil {
				return nil, fmt.Errorf("machine: %v: %w", n, err)
			}
		}
	}
	m.graph = f
	return m, nil
}

// graphNodes is what a machine for a graph does besides running it.
type graphNodes struct {
	gradients G.Nodes // of inputs
	reads     []reader
	rest      G.Nodes // neither wanted nor inputs
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
		ofInput := slices.ContainsFunc(n.DerivOf(), func(x *G.Node) bool { return x.Op() == nil })
		if ofInput {
			f.gradients = append(f.gradients, n)
		}
		given := slices.ContainsFunc(f.reads, func(r reader) bool { return r.from == n })
		number := n.Shape().IsScalar() && !isConstant(n) && !isGradient(n)
		if ofInput || given || number || !isRead[n] && !isStray(n) {
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
func (f *graphNodes) after() error {
	for _, n := range f.gradients {
		for _, x := range n.DerivOf() {
			// A tape machine with BindDualValues left a gradient of its own, which would hide this one.
			if d, err := x.Grad(); err == nil && d != n.Value() && x.Op() == nil {
				bind(x, x.Value())
			}
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

// Gorgonia exports neither the ops of statements and constants nor what a node is bound to. A test pins what the
// following relies on.

// readsInto returns where a node made by gorgonia.Read puts the value.
func readsInto(n *G.Node) (into *G.Value, ok bool) {
	if fmt.Sprintf("%T", n.Op()) != "gorgonia.readOp" {
		return nil, false
	}
	return (*G.Value)(reflect.ValueOf(n.Op()).Field(0).UnsafePointer()), true
}

// isStatement reports whether a node was made by gorgonia.Read or gorgonia.Set and has no value.
func isStatement(n *G.Node) bool {
	switch fmt.Sprintf("%T", n.Op()) {
	case "gorgonia.readOp", "gorgonia.letOp":
		return true
	}
	return false
}

func isConstant(n *G.Node) bool {
	switch fmt.Sprintf("%T", n.Op()) {
	case "gorgonia.constantScalar", "gorgonia.constantTensor":
		return true
	}
	return false
}

// isStray reports whether a node is a gradient that an op made beside the others and nobody asked for: of an input
// that is not trained, say. Grad marks gradients, and those asked for with what they are of.
func isStray(n *G.Node) bool { return isGradient(n) && len(n.DerivOf()) == 0 }

// isGradient reports whether Grad made a node.
func isGradient(n *G.Node) bool {
	return reflect.ValueOf(n).Elem().FieldByName("group").String() == "gradients"
}

// bind binds a node to a value, or to none, which gorgonia.UnsafeLet cannot.
func bind(n *G.Node, v G.Value) {
	f := reflect.ValueOf(n).Elem().FieldByName("boundTo")
	*(*G.Value)(unsafe.Pointer(f.UnsafeAddr())) = v
}
