package train

// Memory is the size of what a Loop holds, in bytes.
type Memory struct {
	Weights   int // all parameters, and with KeepBest the best ones
	Gradients int // of those that are trained, and their sums if a step takes several batches
	Solver    int // of the solver's state, with Config.Group of this process's part
	Graphs    int // of the values within the graphs, of the forward and the backward pass, but the gradients
}

// Memory returns the memory of the loop now. The first evaluation adds its graph.
func (l *Loop) Memory() Memory {
	m := Memory{Graphs: l.step.program.machine.Memory().Planned}
	for _, v := range l.params.All() {
		m.Weights += int(v.MemSize())
	}
	for _, v := range l.best.kept() {
		m.Weights += int(v.MemSize())
	}
	for _, p := range l.step.program.params {
		m.Gradients += int(p.Value.MemSize())
	}
	m.Graphs += l.step.program.gradients.sizeOfCopies() - m.Gradients // the others lie in the graph's memory
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

// Traffic returns the bytes that this process of a group has sent in a step, the mean of its steps,
// and the least, 2·(N − 1)/N of the gradients: the bound for a sum that all N processes get. Both are 0
// for one process, and before the first step.
func (l *Loop) Traffic() (sent, least int64) {
	g := l.step.group
	if g == nil || g.steps == 0 {
		return 0, 0
	}
	size, bytes := int64(g.Size()), int64(0)
	for _, p := range l.step.program.params {
		bytes += int64(p.Value.MemSize())
	}
	return g.sent / int64(g.steps), 2 * (size - 1) * bytes / size
}
