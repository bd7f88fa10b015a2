package machine

import (
	"attention/internal/dense"
	"attention/internal/stock"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Memory is the size of a machine's intermediate values in bytes. Inputs, parameters and the memory that Gorgonia's own
// ops allocate in each run do not count.
type Memory struct {
	Planned int // held by the machine
	Sum     int // without sharing memory between values
}

// planMemory gives each step whose op overwrites its memory a tensor of the arena for its result, and another for the
// workspace that the op needs. Two steps share memory if no step reads the value of the first once the second is
// computed.
func planMemory(a *Arena, steps []step, wanted []int) ([]*slab, Memory) {
	p := memoryPlan{steps: steps, of: make([]*buffer, len(steps)), from: make([]int, len(steps))}
	p.lastRead, p.lastView = lastReads(steps, wanted)
	for i := range steps {
		p.plan(i)
	}
	slabs := place(p.buffers)
	a.reserve(slabs)
	var m Memory
	for i, b := range p.of {
		s := &steps[i]
		if b != nil {
			s.into = b.tensor(s.shape, p.from[i])
		}
		if b != nil && !s.view {
			m.Sum += s.shape.TotalSize() * int(b.dt.Size())
		}
	}
	for _, b := range p.buffers {
		if b.roomOf != nil {
			b.roomOf.in[len(b.roomOf.inputs)] = b.tensor(tensor.Shape{b.size}, 0)
			m.Sum += b.size * int(b.dt.Size())
		}
	}
	for _, s := range slabs {
		m.Planned += s.size * int(s.dt.Size())
	}
	return slabs, m
}

// memoryPlan says which memory each step uses.
type memoryPlan struct {
	steps              []step
	of                 []*buffer // the buffer of each step's value, or nil
	from               []int     // the element of the buffer at which the value begins
	lastRead, lastView []int
	buffers            []*buffer
}

// plan plans the memory of step i. The memory of earlier steps must have been planned.
func (p *memoryPlan) plan(i int) {
	s := &p.steps[i]
	if j, from := viewOf(s); j >= 0 {
		if p.of[j] != nil {
			p.of[i], s.view, p.from[i] = p.of[j], true, p.from[j]+from
		}
		return
	}
	if op, ok := s.op.(roomer); ok && op.Room() > 0 {
		s.in = append(s.in[:len(s.inputs)], nil)
		p.buffers = append(p.buffers, &buffer{dt: s.node.Dtype(), size: op.Room(), since: i, until: i, roomOf: s})
	}
	if !overwrites(s) {
		return
	}
	if s.shape.IsScalar() {
		s.into = numberOf(s)
		return
	}
	if from := p.inPlace(i); from >= 0 {
		p.of[i], p.from[i] = p.of[from], p.from[from]
	} else {
		p.of[i] = &buffer{dt: s.node.Dtype(), size: s.shape.TotalSize(), since: i}
		p.buffers = append(p.buffers, p.of[i])
	}
	p.of[i].until = p.lastRead[i]
}

// numberOf returns the memory for a step whose result is a number.
func numberOf(s *step) G.Value {
	if op, ok := s.op.(*stock.Op); ok && op.IsOne() {
		return tensor.New(tensor.Of(s.node.Dtype()), tensor.WithShape(1))
	}
	return dense.NewScalar(s.node.Dtype())
}

// roomer is an op that needs workspace besides its result. The machine passes the workspace as one more input, with so
// many elements of the result's type.
type roomer interface{ Room() int }

// overwrites reports whether the step computes into planned memory.
func overwrites(s *step) bool {
	op, ok := s.op.(Overwriter)
	if !ok || s.view || !op.OverwritesPrealloc() {
		return false
	}
	dt := s.node.Dtype()
	return dense.IsFloat(dt) || dt == tensor.Bool && !s.shape.IsScalar()
}

// inPlace returns the input of step i whose value the step may overwrite, or −1. Step i must be the last to read the
// memory, and must not also read it through a view.
func (p *memoryPlan) inPlace(i int) int {
	s := &p.steps[i]
	for _, arg := range s.op.(Overwriter).InPlace() {
		from := s.inputs[arg]
		b := p.of[from]
		if b == nil || b.dt != s.node.Dtype() || b.size-p.from[from] < s.shape.TotalSize() {
			continue
		}
		if root := p.rootOf(from); p.lastRead[root] == i && (root == from && p.lastView[from] != i || p.onlyReads(i, from)) {
			return from
		}
	}
	return -1
}

// rootOf returns the step that computed a value: the step itself, or the step whose value it is a view of.
func (p *memoryPlan) rootOf(i int) int {
	for {
		j, _ := viewOf(&p.steps[i])
		if j < 0 {
			return i
		}
		i = j
	}
}

// onlyReads reports whether step i reads the memory of its input, a view, through no other input.
func (p *memoryPlan) onlyReads(i, from int) bool {
	for _, j := range p.steps[i].inputs {
		s := &p.steps[j]
		if j != from && (p.of[j] == p.of[from] || p.of[j] == nil && s.op != nil && !s.shape.IsScalar()) {
			return false
		}
	}
	return true
}

// lastReads returns, for each step, the last step that reads its memory. The result of an
// op that does not overwrite may be a view of an input, so a step that reads it may read
// that input's memory too; lastView is the last step that may do so.
func lastReads(steps []step, wanted []int) (last, lastView []int) {
	last, lastView = make([]int, len(steps)), make([]int, len(steps))
	for _, i := range wanted {
		last[i] = len(steps)
	}
	for i := len(steps) - 1; i >= 0; i-- {
		last[i] = max(last[i], i)
		until := i
		if j, _ := viewOf(&steps[i]); j >= 0 || !overwrites(&steps[i]) {
			until = last[i]
		}
		for _, j := range steps[i].inputs {
			last[j] = max(last[j], until)
			if until > i {
				lastView[j] = max(lastView[j], until)
			}
		}
	}
	return last, lastView
}
