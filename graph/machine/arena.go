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
		s.whole = have.whole
	}
}

// release forgets the plan, whose ops may hold on to the memory, until the next run. The wanted nodes that are bound to
// the memory have no value then.
func (m *Machine) release() {
	for _, i := range m.wanted {
		n := m.steps[i].node
		if d, ok := n.Value().(*tensor.Dense); ok && m.Owns(d) && n.Op() != nil {
			bind(n, nil)
		}
	}
	m.steps, m.wanted, m.slabs, m.ran = nil, nil, nil, false
}
