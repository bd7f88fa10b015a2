package kernel

import "attention/internal/parallel"

// ArgMaxOver writes the index of the largest x along the reduced axes, counted in row-major order: the first of equal
// ones, and the first NaN if there is one (torch.argmax).
func ArgMaxOver[F Float](ids []int, x []F, r Reduction) {
	r.fit("argmax", len(x), len(ids))
	x, room := gather(&r, x)
	defer giveBack(room)
	parallel.Do(argMaxCall[F]{ids, x, r}, len(ids), rowGrain(grainFast, r.N))
}

type argMaxCall[F Float] struct {
	ids []int
	x   []F
	r   Reduction
}

func (c argMaxCall[F]) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		at := i/c.r.Inner*c.r.N*c.r.Inner + i%c.r.Inner
		best := 0
		for k := 1; k < c.r.N; k++ {
			if above(c.x[at+k*c.r.Inner], c.x[at+best*c.r.Inner]) {
				best = k
			}
		}
		c.ids[i] = best
	}
}

// above orders numbers, NaN above every other number.
func above[F Float](x, y F) bool { return x > y || x != x && y == y }

// TopK writes the indices of the k largest elements of each row of cols elements. The largest comes first, equal ones
// in their order, and NaN before all others. 0 < k ≤ cols.
func TopK[F Float](ids []int, x []F, k, cols int) {
	rows := fitRows("top k", len(x), cols)
	fit("top k", rows*k, len(ids))
	parallel.Do(topKCall[F]{ids, x, k, cols}, rows, rowGrain(grainSlow, cols))
}

type topKCall[F Float] struct {
	ids     []int
	x       []F
	k, cols int
}

// A row of ids is a heap whose first element is the last among the best so far, and is sorted at the end.
func (c topKCall[F]) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		x, ids := c.x[i*c.cols:][:c.cols], c.ids[i*c.k:][:c.k]
		before := func(a, b int) bool { return above(x[a], x[b]) || a < b && !above(x[b], x[a]) }
		for j := range ids {
			ids[j] = j
		}
		for j := c.k/2 - 1; j >= 0; j-- {
			sink(ids, j, before)
		}
		for j := c.k; j < c.cols; j++ {
			if before(j, ids[0]) {
				ids[0] = j
				sink(ids, 0, before)
			}
		}
		for n := c.k - 1; n > 0; n-- {
			ids[0], ids[n] = ids[n], ids[0]
			sink(ids[:n], 0, before)
		}
	}
}

// sink moves an element of a heap down until no child comes after it.
func sink(heap []int, i int, before func(a, b int) bool) {
	for {
		last := i
		for child := 2*i + 1; child <= min(2*i+2, len(heap)-1); child++ {
			if before(heap[last], heap[child]) {
				last = child
			}
		}
		if last == i {
			return
		}
		heap[i], heap[last] = heap[last], heap[i]
		i = last
	}
}
