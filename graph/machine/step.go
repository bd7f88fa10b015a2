package machine

import (
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// step computes one node.
type step struct {
	node    *G.Node
	shape   tensor.Shape  // the node's inputs; the node allocates the list in every call
	op      G.Op          // nil for an input
	inputs  []int         // steps
	in      []G.Value     // values of the inputs, set in each run, and the op's workspace
	into    G.Value       // planned memory to compute into, or nil
	view    bool          // into is part of an input's memory, so there is nothing to compute
	seen    *tensor.Dense // the input of which into is a view, if the plan does not know it
	again   bool          // whether an earlier step computes the same node
	slice   tensor.Slice  // of Gorgonia's Slice, as planned
	value   G.Value
	verdict verdict // of FindNotFinite
	unread  []int   // inputs in a mapped file that this step has not read yet
}

// scalarDoer is an op whose UsePreallocDo gives a tape machine a new scalar in each run.
type scalarDoer interface {
	ComputeInto(out G.Value, in ...G.Value) error
}

// run computes a step's value.
func (m *Machine) run(s *step) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = m.failure(s, r)
		}
	}()
	if s.op == nil {
		s.value, err = m.input(s)
		return err
	}
	if s.view {
		s.value = s.into
		return nil
	}
	if j, from := viewOf(s); j >= 0 {
		s.value, err = s.viewInput(&m.steps[j], from)
		return err
	}
	for i, j := range s.inputs {
		s.in[i] = m.steps[j].value
	}
	op, ok := s.op.(scalarDoer)
	switch {
	case s.into == nil:
		s.value, err = s.op.Do(s.in...)
	case ok && s.shape.IsScalar():
		s.value, err = s.into, op.ComputeInto(s.into, s.in...)
	default:
		s.value, err = s.op.(Overwriter).UsePreallocDo(s.into, s.in...)
	}
	if err != nil {
		return fmt.Errorf("machine: %w", err)
	}
	if s.unread != nil {
		return m.checkRead(s)
	}
	return nil
}

// bind binds a step's value to its node. The value uses Gorgonia's engine, as on the tape machine.
func (s *step) bind() error {
	d, ok := s.value.(*tensor.Dense)
	if !ok {
		return G.UnsafeLet(s.node, s.value)
	}
	if !slices.Contains(s.in, s.value) { // an op may return its input, as Dropout does in evaluation
		tensor.WithEngine(G.StandardEngine{})(d)
	}
	if s.shape.IsScalar() && slices.Equal(d.Shape(), []int{1}) { // UnsafeLet refuses a Tensordot over all axes
		bind(s.node, d)
		return nil
	}
	return G.UnsafeLet(s.node, d)
}

// readInputs reads the values of all inputs before a step overwrites inputs that are results of the last run.
func (m *Machine) readInputs() error {
	for i := range m.steps {
		if s := &m.steps[i]; s.op == nil {
			if err := m.run(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// input returns the value of an input.
func (m *Machine) input(s *step) (G.Value, error) {
	n := s.node
	v := n.Value()
	if v == nil {
		return nil, fmt.Errorf("machine: input %s has no value; bind one with gorgonia.Let", expr.InputName(n))
	}
	if err := s.checkInput(v); err != nil {
		return nil, err
	}
	d, ok := v.(*tensor.Dense)
	if !ok {
		return v, nil
	}
	if m.Owns(d) { // it is a result of the last run, and this run overwrites it
		d = d.Clone().(*tensor.Dense)
	}
	d, err := dense.RowMajor(d)
	if err != nil {
		return nil, fmt.Errorf("machine: input %s: %w", expr.InputName(n), err)
	}
	return d, nil
}

// checkInput returns an error unless a value has the input's type and shape: Gorgonia
// binds a scalar of any type to any node.
func (s *step) checkInput(v G.Value) error {
	n, shape := s.node, v.Shape()
	if v.Dtype() != n.Dtype() || !slices.Equal(shape, s.shape) && shape.TotalSize()*s.shape.TotalSize() != 1 {
		return fmt.Errorf("machine: input %s: got %v %v, want %v %v",
			expr.InputName(n), v.Dtype(), shape, n.Dtype(), s.shape)
	}
	return nil
}

// viewInput returns the part of an input's memory that is the step's value. The input belongs to the caller, or one of
// Gorgonia's ops allocated it.
func (s *step) viewInput(in *step, from int) (G.Value, error) {
	if s.shape.IsScalar() {
		return in.value, nil
	}
	d, ok := in.value.(*tensor.Dense)
	if !ok {
		return nil, fmt.Errorf("machine: %v: got a %T, want a *tensor.Dense", s.node, in.value)
	}
	d, err := dense.RowMajor(d)
	if err != nil {
		return nil, fmt.Errorf("machine: %v: %w", s.node, err)
	}
	if n, want := d.Shape().TotalSize(), in.shape.TotalSize(); n != want {
		return nil, fmt.Errorf("machine: %v: got %d elements, want %d", s.node, n, want)
	}
	if d != s.seen {
		s.seen, s.into = d, part(d, s.shape, from)
	}
	return s.into, nil
}

// viewOf returns the step whose value contains the value of s, and the element at which it begins; −1 if s computes.
func viewOf(s *step) (input, from int) {
	if op, ok := s.op.(Overwriter); ok {
		if i, from := op.View(); i >= 0 {
			return s.inputs[i], from
		}
	}
	return -1, 0
}
