package machine

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// The positions of buffers, computed by hand. A cache line has 16 float32 or 8 float64.
func TestPlaceByHand(t *testing.T) {
	f32, f64 := tensor.Float32, tensor.Float64
	type sizes map[tensor.Dtype]int
	for _, c := range []struct {
		reason  string
		buffers []buffer
		at      []int
		slabs   sizes
	}{
		{reason: "nothing to place", slabs: sizes{}},
		{reason: "a slab ends with its last buffer",
			buffers: []buffer{{dt: f32, size: 5}}, at: []int{0}, slabs: sizes{f32: 5}},
		{reason: "a step reads one value and computes the other",
			buffers: []buffer{{dt: f32, size: 5, since: 0, until: 1}, {dt: f32, size: 5, since: 1, until: 2}},
			at:      []int{0, 16}, slabs: sizes{f32: 21}},
		{reason: "one value is not read any more when the other is computed",
			buffers: []buffer{{dt: f32, size: 5, since: 0, until: 1}, {dt: f32, size: 7, since: 2, until: 3}},
			at:      []int{0, 0}, slabs: sizes{f32: 7}},
		{reason: "a type has a slab and lines of its own",
			buffers: []buffer{{dt: f64, size: 9}, {dt: f32, size: 17}, {dt: f64, size: 3}, {dt: f32, size: 1}},
			at:      []int{0, 0, 16, 32}, slabs: sizes{f64: 19, f32: 33}},
		{reason: "the largest comes first, whenever it is in use",
			buffers: []buffer{{dt: f32, size: 16}, {dt: f32, size: 48}, {dt: f32, size: 32}},
			at:      []int{80, 0, 48}, slabs: sizes{f32: 96}},
		{reason: "the last fits between two that are in use with it",
			buffers: []buffer{
				{dt: f32, size: 64, until: 9}, {dt: f32, size: 48, until: 1}, {dt: f32, size: 32, until: 9},
				{dt: f32, size: 20, since: 2, until: 9},
			},
			at: []int{0, 64, 112, 64}, slabs: sizes{f32: 144}},
		{reason: "a gap that a line of the cache leaves too short",
			buffers: []buffer{
				{dt: f32, size: 60, until: 9}, {dt: f32, size: 20, until: 1}, {dt: f32, size: 18, until: 9},
				{dt: f32, size: 17, since: 2, until: 9}, {dt: f32, size: 17, since: 2, until: 9},
			},
			at: []int{0, 64, 96, 64, 128}, slabs: sizes{f32: 145}},
	} {
		var all []*buffer
		var at []int
		for i := range c.buffers {
			all = append(all, &c.buffers[i])
		}
		got := sizes{}
		for _, s := range place(all) {
			got[s.dt] = s.size
		}
		for _, b := range all {
			at = append(at, b.at)
			require.Equal(t, b.dt, b.slab.dt, c.reason)
		}
		require.Equal(t, c.at, at, c.reason)
		require.Equal(t, c.slabs, got, c.reason)
	}
}

// For any buffers, no two that are in use at the same time share memory, and each has the position that the naive
// planner gives it. The slab is at least as large as the buffers in use at one time, and at most as large as all
// buffers together.
func TestPlaceLikeTheNaivePlanner(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		steps := 1 + random.IntN(40)
		var all []*buffer
		for range random.IntN(60) {
			since := random.IntN(steps)
			b := &buffer{dt: tensor.Float32, size: 1 + random.IntN(100), since: since, until: since + random.IntN(steps-since)}
			all = append(all, b)
		}
		slabs := place(all)
		if len(all) == 0 {
			require.Empty(t, slabs)
			continue
		}
		require.Len(t, slabs, 1)
		together, end := 0, 0
		for i, b := range all {
			together += lines(b.size)
			end = max(end, b.at+b.size)
			require.Zero(t, b.at%16, "seed %d", seed)
			for _, other := range all[:i] {
				require.False(t, atOnce(b, other) && overlap(b, other), "seed %d: %+v and %+v", seed, *b, *other)
			}
		}
		require.Equal(t, naivePlaces(all), placesOf(all), "seed %d", seed)
		require.Equal(t, end, slabs[0].size, "seed %d", seed)
		require.LessOrEqual(t, slabs[0].size, together, "seed %d", seed)
		for step := range steps {
			inUse := 0
			for _, b := range all {
				if b.since <= step && step <= b.until {
					inUse += b.size
				}
			}
			require.GreaterOrEqual(t, slabs[0].size, inUse, "seed %d, step %d", seed, step)
		}
	}
}

// naivePlaces returns the positions of the buffers if each, from the largest to the smallest, gets the first cache line
// from which on no other buffer overlaps.
func naivePlaces(all []*buffer) (at []int) {
	placed := map[*buffer]*buffer{} // copies
	largestFirst := func(a, b *buffer) int { return cmp.Compare(b.size, a.size) }
	for _, b := range slices.SortedStableFunc(slices.Values(all), largestFirst) {
		c := *b
		inTheWay := func() bool {
			for _, other := range placed {
				if atOnce(&c, other) && overlap(&c, other) {
					return true
				}
			}
			return false
		}
		for c.at = 0; inTheWay(); {
			c.at += 16
		}
		placed[b] = &c
	}
	for _, b := range all {
		at = append(at, placed[b].at)
	}
	return at
}

func placesOf(all []*buffer) (at []int) {
	for _, b := range all {
		at = append(at, b.at)
	}
	return at
}

func atOnce(a, b *buffer) bool  { return a.since <= b.until && b.since <= a.until }
func overlap(a, b *buffer) bool { return a.at < b.at+b.size && b.at < a.at+a.size }
func lines(size int) int        { return (size + 15) / 16 * 16 }

// A buffer's tensor is its part of the slab. It is made once and ends where the buffer ends.
func TestBuffersAreParts(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64, tensor.Bool} {
		a, b := &buffer{dt: dt, size: 6}, &buffer{dt: dt, size: 4}
		s := place([]*buffer{a, b})[0]
		require.False(t, s.holds(0), "no memory yet")
		new(Arena).reserve([]*slab{s})
		x, y := a.tensor(tensor.Shape{2, 3}, 0), b.tensor(tensor.Shape{2}, 1)
		require.Equal(t, tensor.Shape{2, 3}, x.Shape())
		require.Equal(t, dt, y.Dtype())
		require.Equal(t, s.whole.Uintptr(), x.Uintptr())
		require.Equal(t, uintptr(alignment)+dt.Size(), y.Uintptr()-x.Uintptr(), "one element behind a line")
		require.True(t, s.holds(x.Uintptr()) && s.holds(y.Uintptr()))
		require.False(t, s.holds(s.whole.Uintptr()+s.whole.MemSize()), "the first address behind it")
		require.False(t, s.holds(s.whole.Uintptr()-1))
	}
}
