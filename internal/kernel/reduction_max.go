package kernel

import (
	"attention/internal/parallel"
	"attention/internal/simd"
)

// MaxOver writes the largest x along the reduced axes to y: NaN if one is (torch.amax).
func MaxOver[F Float](y, x []F, r Reduction) {
	r.fit("max", len(x), len(y))
	x, room := gather(&r, x)
	defer giveBack(room)
	if r.Inner > 1 {
		wide := (r.Inner + sumWidth - 1) / sumWidth
		parallel.Do(maxMiddleCall[F]{y, x, r, wide}, r.Outer*wide, rowGrain(grainSlow, r.N*min(r.Inner, sumWidth)))
		return
	}
	if blocks := r.N / sumBlock; r.Outer == 1 && blocks > 1 {
		tops := borrow[F](blocks)
		defer giveBack(tops)
		whole := blocks * sumBlock
		parallel.Do(maxRunsCall[F]{*tops, x[:whole], sumBlock}, blocks, rowGrain(grainSlow, sumBlock))
		y[0] = simd.Larger(simd.MaxOf(*tops), simd.MaxOf(x[whole:]))
		return
	}
	parallel.Do(maxRunsCall[F]{y, x, r.N}, r.Outer, rowGrain(grainSlow, r.N))
}

type maxRunsCall[F Float] struct {
	y, x []F
	n    int
}

func (c maxRunsCall[F]) Do(lo, hi int) {
	simd.TopRows(hi-lo, c.n, c.y[lo:hi], c.x[lo*c.n:hi*c.n])
}

type maxMiddleCall[F Float] struct {
	y, x []F
	r    Reduction
	wide int
}

func (c maxMiddleCall[F]) Do(lo, hi int) {
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
			simd.Greater(y, row, y)
		}
	}
}

// MaxBackward writes dx = dy for the x that were the largest, shared evenly among equals, and 0 for the others (as
// torch.amax). If there is a NaN, no element gets a gradient. dx may be x.
func MaxBackward[F Float](dx, x, y, dy []F, r Reduction) {
	r.fit("max backward", len(x), len(y))
	r.fit("max backward", len(dx), len(dy))
	x, room := gather(&r, x)
	defer giveBack(room)
	shares := borrow[F](len(y))
	defer giveBack(shares)
	parallel.Do(maxSharesCall[F]{*shares, x, y, dy, r}, r.Outer, rowGrain(grainFast, r.N*r.Inner))
	tops := borrow[F](len(y)) // dx may be y
	defer giveBack(tops)
	copy(*tops, y)
	scatter(&r, dx, func(dx []F) {
		parallel.Do(maxBackwardCall[F]{dx, x, *tops, *shares, r}, r.Outer*r.N, rowGrain(grainFast, r.Inner))
	})
}

// maxSharesCall computes the share of each largest element.
type maxSharesCall[F Float] struct {
	shares, x, y, dy []F
	r                Reduction
}

func (c maxSharesCall[F]) Do(lo, hi int) {
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

// equals returns the number of elements of x that equal v.
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

func (c maxBackwardCall[F]) Do(lo, hi int) {
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
