package machine

import (
	"slices"

	"gorgonia.org/tensor"
)

// Arena is memory that machines share, of which one runs at a time: as much as the largest of them needs, and at most a
// sixteenth more. The values of a machine are valid until another machine of the arena is made or runs. The zero value
// is ready for use. An arena and its machines must not be used by several goroutines at once.
type Arena struct {
	slabs    []*slab
	machines []*Machine
}

// Bytes returns the size of the memory.
func (a *Arena) Bytes() (n int) {
	for _, s := range a.slabs {
		n += s.size * int(s.dt.Size())
	}
	return n
}

// reserve gives slabs the memory of the arena's. Where that is too small, no machine keeps the old memory: it is free
// before the new is allocated.
func (a *Arena) reserve(slabs []*slab) {
	var all []*slab
	for _, s := range slabs {
		i := slices.IndexFunc(a.slabs, func(have *slab) bool { return have.dt == s.dt })
		if i < 0 {
			i, a.slabs = len(a.slabs), append(a.slabs, &slab{dt: s.dt})
		}
		have := a.slabs[i]
		if have.size < s.size {
			for _, m := range a.machines {
				m.release()
			}
			have.whole, have.size = nil, max(s.size, have.size+have.size/16)
			have.whole = tensor.New(tensor.Of(s.dt), tensor.WithShape(have.size))
		}
		all = append(all, have)
	}
	for i, s := range slabs {
		s.whole = all[i].whole
	}
}

// placed is the value of a step, or the room that its op wants, in a buffer.
type placed struct {
	step   *step
	buffer *buffer
	from   int
	room   bool
}

// lay gives the machine's values their places in the arena, unless they have them.
func (m *Machine) lay() {
	if m.laid {
		return
	}
	m.arena.reserve(m.slabs)
	for _, p := range m.places {
		if s := p.step; p.room {
			s.in[len(s.inputs)] = p.buffer.tensor(tensor.Shape{p.buffer.size}, 0)
		} else {
			s.into = p.buffer.tensor(s.shape, p.from)
		}
	}
	m.laid = true
}

// release forgets all values that lie in the arena, also those that nodes are bound to.
func (m *Machine) release() {
	for i := range m.steps {
		s := &m.steps[i]
		s.value, s.seen = nil, nil
		clear(s.in)
	}
	for _, p := range m.places {
		if v := p.step.into; !p.room && v != nil {
			if p.step.node.Value() == v {
				bind(p.step.node, nil)
			}
			p.step.into = nil
		}
	}
	for _, s := range m.slabs {
		s.whole = nil
	}
	m.laid, m.ran = false, false
}
