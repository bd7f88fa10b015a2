package train

// Memory is the size of what a Loop holds, in bytes.
type Memory struct {
	Weights   int // all parameters, and with KeepBest the best ones
	Gradients int // of those that are trained, and their sums if a step takes several batches
	Solver    int // of the solver's state, with Config.Group of this process's part
	Graphs    int // of the values within the graphs, of the forward and the backward pass
}

// Memory returns the memory of the loop now. The first evaluation adds its graph.
func (l *Loop) Memory() Memory {
	if l.made() != nil {
		return Memory{}
	}
	m := Memory{Graphs: l.step.program.machine.Memory().Planned}
	for _, v := range l.params.All() {
		m.Weights += int(v.MemSize())
	}
	for _, v := range l.best.kept() {
		m.Weights += int(v.MemSize())
	}
	for _, p := range l.step.program.params {
		m.Gradients += int(p.Grad.MemSize())
	}
	for _, sum := range l.step.sums {
		for _, v := range sum {
			m.Gradients += int(v.MemSize())
		}
	}
	for _, v := range l.step.solver.State() {
		m.Solver += int(v.MemSize())
	}
	if l.eval != nil {
		m.Graphs += l.eval.machine.Memory().Planned
	}
	return m
}
