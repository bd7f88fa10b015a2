package machine

import (
	"errors"
	"fmt"
	"slices"

	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// Value returns the value of a node: of one whose value the machine keeps, its value of the last run; of an input, what
// it is bound to. It is an error that names the node if the machine does not keep it. The next run overwrites it.
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
	i := slices.IndexFunc(m.wanted, func(i int) bool { return m.steps[i].node == n })
	switch {
	case i < 0:
		return nil, fmt.Errorf("machine: the value of %v is not kept; "+
			"keep it with gorgonia.Read, GraphConfig.KeepAll or machine.New", n)
	case !m.ran:
		return nil, fmt.Errorf("machine: %v has no value: no run, or the last one failed", n)
	}
	return m.steps[m.wanted[i]].value, nil
}
