package machine

import "fmt"

// String returns one line about the machine: how much it computes, without details.
func (m *Machine) String() string {
	if m.closed {
		return "closed machine"
	}
	inputs := 0
	for i := range m.steps {
		if m.steps[i].op == nil {
			inputs++
		}
	}
	return fmt.Sprintf("machine of %d nodes, %d inputs, %.1f MB", len(m.steps), inputs, float64(m.memory.Planned)/1e6)
}

// GoString returns the result of String, since no Go expression describes a machine.
func (m *Machine) GoString() string { return m.String() }
