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

// Traffic is what a process of a Group sends to others in a step, in bytes.
type Traffic struct {
	Sent  int64 // the mean of this process's steps
	Least int64 // 2·(N − 1)/N of the gradients, the bound for a sum that all N processes get
}

// Traffic returns what the steps that this loop has taken sent. It is zero for one process,
// and before the first step.
func (l *Loop) Traffic() Traffic {
	if l.made() != nil || l.step.counted == 0 {
		return Traffic{}
	}
	s, size := l.step.sharing, int64(l.team.Size())
	bytes := int64(s.starts[len(s.params)] * s.width())
	return Traffic{Sent: l.step.sent / int64(l.step.counted), Least: 2 * (size - 1) * bytes / size}
}
