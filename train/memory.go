package train

import "gorgonia.org/tensor"

// Memory is what a Loop holds, in bytes.
type Memory struct {
	Weights   int // all parameters
	Gradients int // of those that are trained, and their sums if a step takes several batches
	Solver    int // what the solver remembers
	Graphs    int // values within the graphs: the forward pass's, and gradients on their way
}

// Memory is what the loop takes now. A graph for evaluation comes with the first one.
func (l *Loop) Memory() Memory {
	m := Memory{Graphs: l.step.program.machine.Memory().Planned}
	for _, v := range l.params.All() {
		m.Weights += bytesOf(v)
	}
	for _, p := range l.step.program.params {
		m.Gradients += bytesOf(p.Grad)
	}
	for _, v := range l.step.sums {
		m.Gradients += bytesOf(v)
	}
	for _, s := range l.step.solver.State() {
		m.Solver += bytesOf(s.Value)
	}
	if l.eval != nil {
		m.Graphs += l.eval.machine.Memory().Planned
	}
	return m
}

func bytesOf(d *tensor.Dense) int { return d.Shape().TotalSize() * int(d.Dtype().Size()) }
