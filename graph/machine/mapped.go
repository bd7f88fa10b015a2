package machine

import (
	"errors"
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/expr"
	"attention/internal/mapped"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// ErrNotFinite is wrapped by the error of a run that reads a weight with a NaN or an infinity from a file.
var ErrNotFinite = errors.New("not finite")

// spreader is an op whose result is not finite if the elements that it reads of an input are not finite.
type spreader interface{ Spreads() bool }

// findMapped finds the inputs that are in the memory of a mapped file, and the step that reads each of them first. In
// its first run, a machine checks them for NaNs and infinities where it reads them anyway.
func (m *Machine) findMapped() {
	m.mapped = false
	for i := range m.steps {
		s := &m.steps[i]
		s.unread = nil
		if s.op == nil || s.view {
			continue
		}
		for _, j := range s.inputs {
			if j = m.lies(j); isMapped(m.steps[j].node) && !slices.Contains(s.unread, j) {
				s.unread, m.mapped = append(s.unread, j), true
			}
		}
	}
}

// lies returns the step whose value contains the value of step i.
func (m *Machine) lies(i int) int {
	for {
		j, _ := viewOf(&m.steps[i])
		if j < 0 {
			return i
		}
		i = j
	}
}

// isMapped reports whether a node is an input in the memory of a mapped file.
func isMapped(n *G.Node) bool {
	if n.Op() != nil {
		return false
	}
	d, ok := n.Value().(*tensor.Dense)
	return ok && d.IsManuallyManaged()
}

// checkRead returns an error if an input that the step has read from a file for the first time is not finite. It can
// skip the input if the step's result is finite and the op spreads non-finite numbers.
func (m *Machine) checkRead(s *step) error {
	unread := s.unread
	s.unread = nil
	op, ok := s.op.(spreader)
	out, isTensor := s.value.(*tensor.Dense)
	if ok && op.Spreads() && isTensor && dense.IsFinite(out) {
		return nil
	}
	for _, j := range unread {
		n := m.steps[j].node
		if d, ok := n.Value().(*tensor.Dense); ok && isNumber(d.Dtype()) && !dense.IsFinite(d) {
			return fmt.Errorf("machine: parameter %s: has values that are %w", n.Name(), ErrNotFinite)
		}
	}
	return nil
}

func isNumber(dt tensor.Dtype) bool { return dense.IsFloat(dt) || dense.IsStored(dt) }

// failure returns the error of a step that panicked. If a mapped file was truncated, the error names the input in its
// memory.
func (m *Machine) failure(s *step, recovered any) error {
	at, ok := mapped.Fault(recovered)
	if !ok {
		return fmt.Errorf("machine: %v: panic: %v", s.node, recovered)
	}
	for _, j := range s.inputs {
		n := m.steps[m.lies(j)].node
		if d, ok := n.Value().(*tensor.Dense); ok && at-d.Uintptr() < d.MemSize() {
			return fmt.Errorf("machine: parameter %s: %w", expr.InputName(n), mapped.ErrCut)
		}
	}
	return fmt.Errorf("machine: %v: panic: %v at %#x", s.node, recovered, at)
}
