package machine

import (
	"cmp"
	"reflect"
	"slices"

	"attention/internal/dense"

	"gorgonia.org/tensor"
)

// buffer is memory that several values use in turn; each is computed in place of the value before.
type buffer struct {
	dt           tensor.Dtype
	size         int // elements
	since, until int // the first step that writes it, and the last that reads it
	slab         *slab
	at           int   // the element of the slab at which it begins
	roomOf       *step // the step whose workspace it is, or nil
}

// slab is the memory of all values of one type, of a machine or of its arena.
type slab struct {
	dt    tensor.Dtype
	size  int // elements
	whole *tensor.Dense
}

// alignment of buffers, in bytes: a cache line.
const alignment = 64

// place assigns each buffer a position in the slab of its type so that no two buffers in use at the same time overlap.
// The largest buffers are placed first, each as close to the beginning as it fits (greedy by size: Pisarchyk & Lee
// 2020, arXiv:2001.03288).
func place(buffers []*buffer) (slabs []*slab) {
	bySize := slices.Clone(buffers)
	slices.SortStableFunc(bySize, func(a, b *buffer) int { return cmp.Compare(b.size, a.size) })
	placed := map[*slab][]*buffer{} // sorted by where they begin
	for _, b := range bySize {
		k := slices.IndexFunc(slabs, func(s *slab) bool { return s.dt == b.dt })
		if k < 0 {
			k, slabs = len(slabs), append(slabs, &slab{dt: b.dt})
		}
		b.slab = slabs[k]
		unit := alignment / int(b.dt.Size())
		for _, other := range placed[b.slab] {
			if other.until < b.since || b.until < other.since {
				continue
			}
			if b.at+b.size <= other.at {
				break
			}
			b.at = max(b.at, (other.at+other.size+unit-1)/unit*unit)
		}
		b.slab.size = max(b.slab.size, b.at+b.size)
		i, _ := slices.BinarySearchFunc(placed[b.slab], b.at, func(o *buffer, at int) int { return cmp.Compare(o.at, at) })
		placed[b.slab] = slices.Insert(placed[b.slab], i, b)
	}
	return slabs
}

// tensor returns the part of the buffer that begins at from, as a tensor of a shape.
func (b *buffer) tensor(shape tensor.Shape, from int) *tensor.Dense {
	return part(b.slab.whole, shape, b.at+from)
}

// holds reports whether an address is in the slab.
func (s *slab) holds(at uintptr) bool {
	return s.whole != nil && s.whole.Uintptr() <= at && at < s.whole.Uintptr()+s.whole.MemSize()
}

// part returns the part of a tensor's memory that begins at an element, as a tensor of a shape.
func part(of *tensor.Dense, shape tensor.Shape, from int) *tensor.Dense {
	to := from + shape.TotalSize()
	backing := reflect.ValueOf(dense.Slice(of)).Slice3(from, to, to)
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(backing.Interface()))
}
