package kernel

// MaxOver writes the largest x along the reduced axes to y: NaN if one is (torch.amax).
func MaxOver[F Float](y, x []F, r Reduction) {
	r.fit("max", len(x), len(y))
	x, room := gather(&r, x)
	defer giveBack(room)
	if r.Inner > 1 {
		wide := (r.Inner + sumWidth - 1) / sumWidth
		split(maxMiddleCall[F]{y, x, r, wide}, r.Outer*wide, rowGrain(grainSlow, r.N*min(r.Inner, sumWidth)))
		return
	}
	if blocks := r.N / sumBlock; r.Outer == 1 && blocks > 1 {
		tops := borrow[F](blocks)
		defer giveBack(tops)
		whole := blocks * sumBlock
		split(maxRunsCall[F]{*tops, x[:whole], sumBlock}, blocks, rowGrain(grainSlow, sumBlock))
		y[0] = larger(maxOf(*tops), maxOf(x[whole:]))
		return
	}
	split(maxRunsCall[F]{y, x, r.N}, r.Outer, rowGrain(grainSlow, r.N))
}

type maxRunsCall[F Float] struct {
	y, x []F
	n    int
}

func (c maxRunsCall[F]) do(lo, hi int) {
	topRows(chosenPath, hi-lo, c.n, c.y[lo:hi], c.x[lo*c.n:hi*c.n])
}

func topRowsGo[F Float](rows, cols int, y, x []F) {
	for i := range rows {
		y[i] = maxOf(x[i*cols:][:cols])
	}
}

type maxMiddleCall[F Float] struct {
	y, x []F
	r    Reduction
	wide int
}

func (c maxMiddleCall[F]) do(lo, hi int) {
	for i := lo; i < hi; i++ {
		outer, from := i/c.wide, i%c.wide*sumWidth
		n := min(sumWidth, c.r.Inner-from)
		y := c.y[outer*c.r.Inner+from:][:n]
		for k := range c.r.N {
			row := c.x[(outer*c.r.N+k)*c.r.Inner+from:][:n]
			if k == 0 {
				copy(y, row)
				continue
			}
			greater(chosenPath, y, row, y)
		}
	}
}

// maxOf returns the largest x, −∞ for none, in four that do not wait for each other.
func maxOf[F Float](x []F) F {
	a := lowest[F]()
	b, c, d := a, a, a
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = larger(a, x[0]), larger(b, x[1]), larger(c, x[2]), larger(d, x[3])
	}
	for _, v := range x {
		a = larger(a, v)
	}
	return larger(larger(a, b), larger(c, d))
}

// larger is max, but for the sign of zero: faster.
func larger[F Float](top, v F) F {
	if v > top || v != v {
		return v
	}
	return top
}

// MaxBackward writes dx = dy for the x that were the largest, shared evenly among equals, and 0 for the others (as
// torch.amax). Among NaNs none is the largest. dx may be x.
func MaxBackward[F Float](dx, x, y, dy []F, r Reduction) {
	r.fit("max backward", len(x), len(y))
	r.fit("max backward", len(dx), len(dy))
	x, room := gather(&r, x)
	defer giveBack(room)
	shares := borrow[F](len(y))
	defer giveBack(shares)
	split(maxSharesCall[F]{*shares, x, y, dy, r}, r.Outer, rowGrain(grainFast, r.N*r.Inner))
	tops := borrow[F](len(y)) // dx may be y
	defer giveBack(tops)
	copy(*tops, y)
	scatter(&r, dx, func(dx []F) {
		split(maxBackwardCall[F]{dx, x, *tops, *shares, r}, r.Outer*r.N, rowGrain(grainFast, r.Inner))
	})
}

// maxSharesCall computes what each of the largest gets.
type maxSharesCall[F Float] struct {
	shares, x, y, dy []F
	r                Reduction
}

func (c maxSharesCall[F]) do(lo, hi int) {
	n := c.r.Inner
	clear(c.shares[lo*n : hi*n])
	for outer := lo; outer < hi; outer++ {
		x := c.x[outer*c.r.N*n:][:c.r.N*n]
		count, top := c.shares[outer*n:][:n], c.y[outer*n:][:n]
		if n == 1 {
			count[0] = equals(x, top[0])
			continue
		}
		for ; len(x) > 0; x = x[n:] {
			for j, v := range x[:n] {
				if v == top[j] {
					count[j]++
				}
			}
		}
	}
	for i := lo * n; i < hi*n; i++ {
		c.shares[i] = c.dy[i] / max(c.shares[i], 1)
	}
}

// equals returns how many of x are v.
func equals[F Float](x []F, v F) F {
	n := 0
	for _, w := range x {
		if w == v {
			n++
		}
	}
	return F(n)
}

type maxBackwardCall[F Float] struct {
	dx, x, tops, shares []F
	r                   Reduction
}

func (c maxBackwardCall[F]) do(lo, hi int) {
	n := c.r.Inner
	if n == 1 {
		c.r.runs(lo, hi, func(outer, lo, hi int) {
			x, top, share := c.x[lo:hi], c.tops[outer], c.shares[outer]
			dx := c.dx[lo:hi][:len(x)]
			for i, v := range x {
				d := share
				if v != top {
					d = 0
				}
				dx[i] = d
			}
		})
		return
	}
	for i := lo; i < hi; i++ {
		at := i / c.r.N * n
		top, share, dx := c.tops[at:][:n], c.shares[at:][:n], c.dx[i*n:][:n]
		for j, v := range c.x[i*n:][:n] {
			d := share[j]
			if v != top[j] {
				d = 0
			}
			dx[j] = d
		}
	}
}

// ArgMaxOver writes where along the reduced axes, counted row-major, the largest x is: the first among equals, and the
// first NaN if there is one (torch.argmax).
func ArgMaxOver[F Float](ids []int, x []F, r Reduction) {
	r.fit("argmax", len(x), len(ids))
	x, room := gather(&r, x)
	defer giveBack(room)
	split(argMaxCall[F]{ids, x, r}, len(ids), rowGrain(grainFast, r.N))
}

type argMaxCall[F Float] struct {
	ids []int
	x   []F
	r   Reduction
}

func (c argMaxCall[F]) do(lo, hi int) {
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

// above orders numbers, NaN above all others.
func above[F Float](x, y F) bool { return x > y || x != x && y == y }

// TopK writes where the k largest of each row of cols elements are, the largest first, the first among equals, and NaN
// before all others. 0 < k ≤ cols.
func TopK[F Float](ids []int, x []F, k, cols int) {
	rows := fitRows("top k", len(x), cols)
	fit("top k", rows*k, len(ids))
	split(topKCall[F]{ids, x, k, cols}, rows, rowGrain(grainSlow, cols))
}

type topKCall[F Float] struct {
	ids     []int
	x       []F
	k, cols int
}

// A row of ids is a heap whose first element is the last among the best so far, and is sorted at the end.
func (c topKCall[F]) do(lo, hi int) {
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
