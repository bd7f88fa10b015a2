package kernel

import (
	"slices"
	"sync"
)

// A call is one call of a kernel: its arguments, and how a part of it is done. Elements, rows and columns do not
// touch each other, so the bits of the results do not depend on how a call is split.
type call interface {
	do(lo, hi int) // the elements, rows or columns [lo,hi)
}

// split does a call of n elements, rows or columns. If it is large enough, goroutines share it, each doing at least
// grain of them at a time.
func split[C call](c C, n, grain int) {
	if n < 2*grain {
		if n > 0 {
			c.do(0, n)
		}
		return
	}
	pool := sharedCalls[C]()
	shared := pool.Get().(*sharedCall[C])
	shared.call = c
	Parallel(n, grain, shared.do)
	var none C
	shared.call = none
	pool.Put(shared)
}

// A sharedCall is a call that goroutines share. It is kept for the next call of the same kernel, so that splitting
// allocates nothing.
type sharedCall[C call] struct {
	call C
	do   func(lo, hi int) // call.do, made once
}

// callPools holds a pool of *sharedCall[C] for the type *C.
var callPools sync.Map

func sharedCalls[C call]() *sync.Pool {
	key := any((*C)(nil))
	pool, ok := callPools.Load(key)
	if !ok {
		pool, _ = callPools.LoadOrStore(key, &sync.Pool{New: func() any {
			s := new(sharedCall[C])
			// By its address: a call that is copied to the stack for each part waits for the stores of the part before.
			s.do = any(&s.call).(call).do
			return s
		}})
	}
	return pool.(*sync.Pool)
}

// The number of elements that are worth a goroutine: of functions that compute much, and of those that wait for
// memory.
const (
	grainSlow = 1 << 11
	grainFast = 1 << 13
)

// rowGrain returns the number of rows of cols elements that have about the given number of elements.
func rowGrain(elements, cols int) int { return 1 + elements/max(cols, 1) }

// columnGrain returns the number of columns of the given number of rows that are worth a goroutine: whole cache
// lines.
func columnGrain(rows int) int { return (1 + grainFast/rows/64) * 64 }

// fit panics unless all lengths are n.
func fit(name string, n int, lengths ...int) {
	for _, length := range lengths {
		if length != n {
			panic("kernel: " + name + ": slices of lengths that do not fit together")
		}
	}
}

// fitOrNil panics unless each slice is nil or has n elements.
func fitOrNil[F Float](name string, n int, slices ...[]F) {
	for _, s := range slices {
		if s != nil {
			fit(name, n, len(s))
		}
	}
}

// fitRows panics unless a slice has whole rows, and returns their number.
func fitRows(name string, n, cols int) (rows int) {
	if n == 0 {
		return 0
	}
	if cols < 1 || n%cols != 0 {
		panic("kernel: " + name + ": a slice that is not made of rows of the given length")
	}
	return n / cols
}

// checkSteps makes sure that pieces of the given width, counts[i] of them steps[i] apart along axis i, lie inside
// a slice, without overflow.
func checkSteps(name string, length, width int, counts, steps []int) {
	if width == 0 || slices.Contains(counts, 0) {
		return
	}
	room := length - width
	for axis, n := range counts {
		if steps[axis] < 0 {
			panic("kernel: " + name + ": negative stride")
		}
		if steps[axis] > 0 && n > 1 {
			if n-1 > room/steps[axis] {
				room = -1
				break
			}
			room -= (n - 1) * steps[axis]
		}
	}
	if room < 0 {
		panic("kernel: " + name + ": slice is too short")
	}
}
