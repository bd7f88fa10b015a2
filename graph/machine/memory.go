package machine

import (
	"unsafe"

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
		if !overwrites(s) {
			continue
		}
		if j, from := viewOf(s); j >= 0 && plan[j] != nil {
			plan[i], s.view, offset[i] = plan[j], true, offset[j]+from
			continue
		}
		if plan[i] = inPlace(steps, plan, lastRead, lastView, i); plan[i] == nil {
			plan[i] = take(&slabs, s.node.Dtype(), s.node.Shape().TotalSize(), i)
		}
		plan[i].busyUntil = lastRead[i]
	}
	var m Memory
	for i, p := range plan {
		if p != nil {
			steps[i].into = p.tensor(steps[i].node.Shape(), offset[i])
		}
		if p != nil && !steps[i].view {
			m.Sum += steps[i].node.Shape().TotalSize() * int(p.dt.Size())
		}
	}
	for _, s := range slabs {
		m.Planned += s.size * int(s.dt.Size())
	}
	return slabs, m
}

// overwrites reports whether the step computes into planned memory.
func overwrites(s *step) bool {
	n := s.node
	op, ok := s.op.(Overwriter)
	float := n.Dtype() == tensor.Float32 || n.Dtype() == tensor.Float64
	return ok && float && op.OverwritesPrealloc() && !n.Shape().IsScalar()
}

// viewOf returns the step of whose value that of s is a part, and where that part
// begins; −1 if s computes.
func viewOf(s *step) (input, from int) {
	if op, ok := s.op.(Overwriter); ok {
		if i, from := op.View(); i >= 0 {
			return s.inputs[i], from
		}
	}
	return -1, 0
}

// inPlace returns the slab of the input that step i may overwrite, or nil. Step i must be
// the last to read it and must not also read it through a view.
func inPlace(steps []step, plan []*slab, lastRead, lastView []int, i int) *slab {
	s := &steps[i]
	arg := s.op.(Overwriter).InPlace()
	if arg < 0 {
		return nil
	}
	from := s.inputs[arg]
	p := plan[from]
	free := !steps[from].view && lastRead[from] == i && lastView[from] != i
	if p == nil || !free || p.dt != s.node.Dtype() || p.size < s.node.Shape().TotalSize() {
		return nil
	}
	return p
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
	backing   any
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
	if s.dt == tensor.Float32 {
		return onSlab[float32](s, shape, from)
	}
	return onSlab[float64](s, shape, from)
}

// holds reports whether an address lies in the slab.
func (s *slab) holds(at uintptr) bool {
	switch b := s.backing.(type) {
	case []float32:
		return contains(b, at)
	case []float64:
		return contains(b, at)
	}
	return false
}

func contains[F float32 | float64](b []F, at uintptr) bool {
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return begin <= at && at < begin+uintptr(len(b))*unsafe.Sizeof(b[0])
}

func onSlab[F float32 | float64](s *slab, shape tensor.Shape, from int) *tensor.Dense {
	if s.backing == nil {
		s.backing = make([]F, s.size)
	}
	to := from + shape.TotalSize()
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(s.backing.([]F)[from:to:to]))
}
