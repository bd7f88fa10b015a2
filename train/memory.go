package train

import "gorgonia.org/tensor"

// Memory is the size of what a Loop holds, in bytes.
type Memory struct {
	Weights   int // all parameters
	Gradients int // of those that are trained, and their sums if a step takes several batches
	Solver    int // of the solver's state
	Graphs    int // of the values within the graphs, of the forward and the backward pass
}

// Memory returns the memory of the loop now. The first evaluation adds its graph.
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
	for _, v := range l.step.solver.State() {
		m.Solver += bytesOf(v)
	}
	if l.eval != nil {
		m.Graphs += l.eval.machine.Memory().Planned
	}
	return m
}

func bytesOf(d *tensor.Dense) int { return d.Shape().TotalSize() * int(d.Dtype().Size()) }
