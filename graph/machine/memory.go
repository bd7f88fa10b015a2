package machine

import (
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// planMemory gives every step whose op overwrites its memory a tensor to compute
// into. Two steps share memory when the one's value is no longer read by the time
// the other is computed.
func planMemory(steps []step, at map[*G.Node]int, keep map[*G.Node]bool) {
	lastRead := lastReads(steps, at, keep)
	slabs := []*slab{}
	plan := make([]*slab, len(steps))
	for i := range steps {
		s := &steps[i]
		if !overwrites(s.node) {
			continue
		}
		plan[i] = take(&slabs, s.node.Dtype(), s.node.Shape().TotalSize(), i)
		plan[i].busyUntil = lastRead[i]
	}
	for i, p := range plan {
		if p != nil {
			steps[i].into = p.tensor(steps[i].node.Shape())
		}
	}
}

func overwrites(n *G.Node) bool {
	op, ok := n.Op().(Overwriter)
	return ok && op.OverwritesPrealloc() && !n.Shape().IsScalar()
}

// lastReads is for each step the last step that reads its memory. An op that does
// not overwrite may return a view of an input, so what reads its result may read
// that input's memory too.
func lastReads(steps []step, at map[*G.Node]int, keep map[*G.Node]bool) []int {
	last := make([]int, len(steps))
	for i := len(steps) - 1; i >= 0; i-- {
		last[i] = max(last[i], i)
		if keep[steps[i].node] {
			last[i] = len(steps)
		}
		until := i
		if !overwrites(steps[i].node) {
			until = last[i]
		}
		for _, input := range steps[i].inputs {
			j := at[input.node]
			last[j] = max(last[j], until)
		}
	}
	return last
}

// slab is memory that several steps use one after the other.
type slab struct {
	dt        tensor.Dtype
	size      int // elements
	busyUntil int // the last step that reads it
	backing   any
}

// take finds the free slab that fits best at a step, lets the largest free one
// grow when none is large enough, or makes a new one.
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

// tensor is the beginning of the slab as a tensor of a shape.
func (s *slab) tensor(shape tensor.Shape) *tensor.Dense {
	n := shape.TotalSize()
	if s.dt == tensor.Float32 {
		return onSlab[float32](s, n, shape)
	}
	return onSlab[float64](s, n, shape)
}

func onSlab[F float32 | float64](s *slab, n int, shape tensor.Shape) *tensor.Dense {
	if s.backing == nil {
		s.backing = make([]F, s.size)
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(s.backing.([]F)[:n:n]))
}
