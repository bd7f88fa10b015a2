package machine

import (
	"slices"

	"gorgonia.org/tensor"
)

// Arena is memory that several machines share if only one of them runs at a time. It has the size that the largest
// machine needs, and at most a sixteenth more. The values of a machine are valid until another machine of the arena is
// planned or runs. The zero value is ready for use. An arena and its machines must not be used by several goroutines at
// once.
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

// reserve gives slabs memory of the arena. If the arena is too small, no machine keeps the old memory: it is freed
// before the new memory is allocated.
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

// release drops the plan, whose ops may refer to the memory, until the next run. Wanted nodes that are bound to the
// memory have no value until then.
func (m *Machine) release() {
	for _, i := range m.wanted {
		n := m.steps[i].node
		if d, ok := n.Value().(*tensor.Dense); ok && m.Owns(d) && n.Op() != nil {
			bind(n, nil)
		}
	}
	m.steps, m.wanted, m.slabs, m.ran = nil, nil, nil, false
}
