package kernel

import "attention/internal/simd"

// triangle is the number of rows of a triangular system that are solved one by one.
const triangle = 16

// solve replaces u by the solution of (1 + L)·x = u.
func (c *linearChunk[F]) solve(u []F) {
	n, DV, l := c.n, c.DV, c.y[c.queryRows()*c.n:]
	for lo := 0; lo < n; lo += triangle {
		hi := min(lo+triangle, n)
		if lo > 0 {
			g := Product[F]{M: hi - lo, N: DV, K: lo, Alpha: -1, A: Rows(l[lo*n:], n), B: Rows(u, DV), Beta: 1,
				C: Rows(u[lo*DV:], DV)}
			g.alone()
		}
		for i := lo + 1; i < hi; i++ {
			simd.Weigh(-1, u[lo*DV:], DV, l[i*n+lo:][:i-lo], u[i*DV:][:DV])
		}
	}
}

// solveTransposed replaces u by the solution of (1 + L)ᵀ·x = u.
func (c *linearChunk[F]) solveTransposed(u []F) {
	n, DV, l := c.n, c.DV, c.y[c.queryRows()*c.n:]
	for lo := (n - 1) / triangle * triangle; lo >= 0; lo -= triangle {
		hi := min(lo+triangle, n)
		if hi < n {
			g := Product[F]{M: hi - lo, N: DV, K: n - hi, Alpha: -1, A: Transposed(l[hi*n+lo:], n),
				B: Rows(u[hi*DV:], DV), Beta: 1, C: Rows(u[lo*DV:], DV)}
			g.alone()
		}
		for i := hi - 2; i >= lo; i-- {
			column := c.column[:hi-1-i]
			for j := range column {
				column[j] = l[(i+1+j)*n+i]
			}
			simd.Weigh(-1, u[(i+1)*DV:], DV, column, u[i*DV:][:DV])
		}
	}
}
