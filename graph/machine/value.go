package machine

import (
	"errors"
	"fmt"
	"slices"

	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// Forget drops the values of the last run that are outside the machine's memory, and the values that some inputs are
// bound to. The wanted nodes have no value until the next run.
func (m *Machine) Forget(inputs ...*G.Node) {
	for i := range m.steps {
		s := &m.steps[i]
		if s.seen != nil {
			s.seen, s.into = nil, nil
		}
		s.value = nil
		clear(s.in[:len(s.inputs)])
	}
	for _, n := range slices.Concat(m.nodes, inputs) {
		if n != nil && (n.Op() != nil || slices.Contains(inputs, n)) {
			bind(n, nil)
		}
	}
	m.ran = false
}

// Value returns the value of a node. For an input it is the value that the input is bound to. For a node whose value
// the machine keeps it is the value of the last run, which the next run overwrites. For any other node the error names
// the node.
func (m *Machine) Value(n *G.Node) (G.Value, error) {
	if err := m.open(); err != nil {
		return nil, err
	}
	if n == nil || n.Graph() == nil {
		return nil, errors.New("machine: node: got nil or one of no graph, want one of the machine's")
	}
	if n.Op() == nil || isConstant(n) {
		if n.Value() == nil {
			return nil, fmt.Errorf("machine: input %s has no value; bind one with gorgonia.Let", expr.InputName(n))
		}
		return n.Value(), nil
	}
	switch {
	case !slices.Contains(m.nodes, n):
		return nil, fmt.Errorf("machine: the value of %v is not kept; "+
			"keep it with gorgonia.Read, GraphConfig.KeepAll or machine.New", n)
	case !m.ran:
		return nil, fmt.Errorf("machine: %v has no value: no run, or the last one failed", n)
	}
	i := slices.IndexFunc(m.wanted, func(i int) bool { return m.steps[i].node == n })
	return m.steps[m.wanted[i]].value, nil
}
