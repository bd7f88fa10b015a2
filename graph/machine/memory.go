package machine

import (
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Memory is the size of a machine's intermediate values in bytes, without inputs,
// parameters and what stock Gorgonia ops allocate in each run.
type Memory struct {
	Planned int // held by the machine
	Sum     int // if no two values shared memory
}

// planMemory gives every step whose op overwrites its memory a tensor to compute into.
// Two steps share memory if no step reads the first one's value once the second is
// computed.
func planMemory(steps []step, wanted []int) ([]*slab, Memory) {
	lastRead, lastView := lastReads(steps, wanted)
	var slabs []*slab
	plan, offset := make([]*slab, len(steps)), make([]int, len(steps))
	for i := range steps {
		s := &steps[i]
		if j, from := viewOf(s); j >= 0 {
			if plan[j] != nil {
				plan[i], s.view, offset[i] = plan[j], true, offset[j]+from
			}
			continue
		}
		if !overwrites(s) {
			continue
		}
		if s.shape.IsScalar() {
			s.into = scalar(s.node.Dtype())
			continue
		}
		if plan[i] = inPlace(steps, plan, lastRead, lastView, i); plan[i] == nil {
			plan[i] = take(&slabs, s.node.Dtype(), s.shape.TotalSize(), i)
		}
		plan[i].busyUntil = lastRead[i]
	}
	var m Memory
	for i, p := range plan {
		if p != nil {
			steps[i].into = p.tensor(steps[i].shape, offset[i])
		}
		if p != nil && !steps[i].view {
			m.Sum += steps[i].shape.TotalSize() * int(p.dt.Size())
		}
	}
	for _, s := range slabs {
		m.Planned += s.size * int(s.dt.Size())
	}
	return slabs, m
}

// overwrites reports whether the step computes into planned memory.
func overwrites(s *step) bool {
	op, ok := s.op.(Overwriter)
	if !ok || s.view || !op.OverwritesPrealloc() {
		return false
	}
	switch s.node.Dtype() {
	case tensor.Float32, tensor.Float64:
		return true
	case tensor.Bool:
		return !s.shape.IsScalar()
	}
	return false
}

// scalar returns memory for a number.
func scalar(dt tensor.Dtype) G.Value {
	if dt == tensor.Float32 {
		return G.NewF32(0)
	}
	return G.NewF64(0)
}

// inPlace returns the slab of an input that step i may overwrite, or nil. Step i must be
// the last to read it and must not also read it through a view.
func inPlace(steps []step, plan []*slab, lastRead, lastView []int, i int) *slab {
	s := &steps[i]
	for _, arg := range s.op.(Overwriter).InPlace() {
		from := s.inputs[arg]
		p := plan[from]
		free := !steps[from].view && lastRead[from] == i && lastView[from] != i
		if p != nil && free && p.dt == s.node.Dtype() && p.size >= s.shape.TotalSize() {
			return p
		}
	}
	return nil
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

// slab is memory that several steps use in turn.
type slab struct {
	dt        tensor.Dtype
	size      int // elements
	busyUntil int // the last step that reads it
	whole     *tensor.Dense
}

// take returns the smallest free slab at a step that is large enough. If there is none, it
// enlarges the largest free slab or makes a new one.
func take(slabs *[]*slab, dt tensor.Dtype, size, step int) *slab {
	var best *slab
	for _, s := range *slabs {
		if s.dt != dt || s.busyUntil >= step {
			continue
		}
		switch {
		case best == nil,
			best.size < size && s.size > best.size,
			best.size >= size && s.size >= size && s.size < best.size:
			best = s
		}
	}
	if best == nil {
		best = &slab{dt: dt}
		*slabs = append(*slabs, best)
	}
	best.size = max(best.size, size)
	return best
}

// tensor returns the part of the slab that begins at from, as a tensor of a shape.
func (s *slab) tensor(shape tensor.Shape, from int) *tensor.Dense {
	if s.whole == nil {
		s.whole = tensor.New(tensor.Of(s.dt), tensor.WithShape(s.size))
	}
	return part(s.whole, shape, from)
}

// holds reports whether an address lies in the slab.
func (s *slab) holds(at uintptr) bool {
	return s.whole != nil && s.whole.Uintptr() <= at && at < s.whole.Uintptr()+s.whole.MemSize()
}

// part returns the part of a tensor's memory that begins at an element, as a tensor of a shape.
func part(of *tensor.Dense, shape tensor.Shape, from int) *tensor.Dense {
	var backing any
	to := from + shape.TotalSize()
	switch of.Dtype() {
	case tensor.Float32:
		backing = of.Float32s()[from:to:to]
	case tensor.Float64:
		backing = of.Float64s()[from:to:to]
	case tensor.Bool:
		backing = of.Bools()[from:to:to]
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(backing))
}
