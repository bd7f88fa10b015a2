package kernel

import (
	"attention/internal/parallel"
	"attention/internal/simd"
)

// LayerNorm writes y = (x − mean)·rstd·gamma + beta for every row of cols elements, with the
// row's mean and rstd = 1/√(variance + eps), the variance without Bessel's correction (torch's layer_norm).
// gamma and beta have cols elements, or are nil. mean and rstd have one element for each row; y may be x.
func LayerNorm[F Float](y, mean, rstd, x, gamma, beta []F, cols int, eps float64) {
	const name = "layer norm"
	rows := fitRows(name, len(x), cols)
	fit(name, len(x), len(y))
	fit(name, rows, len(mean), len(rstd))
	fitOrNil(name, cols, gamma, beta)
	parallel.Do(layerNormCall[F]{y, mean, rstd, x, gamma, beta, cols, F(eps)}, rows, rowGrain(grainFast, cols))
}

type layerNormCall[F Float] struct {
	y, mean, rstd, x, gamma, beta []F
	cols                          int
	eps                           F
}

func (c layerNormCall[F]) Do(lo, hi int) {
	from, to := lo*c.cols, hi*c.cols
	y, mean, rstd, x := c.y[from:to], c.mean[lo:hi], c.rstd[lo:hi], c.x[from:to]
	simd.NormRows(hi-lo, c.cols, y, mean, rstd, x, c.gamma, c.beta, c.eps)
}

// LayerNormBackward writes the gradients of LayerNorm for the gradient dy of y, with the mean and rstd that it gave.
// Any of dx, dgamma and dbeta may be nil and is then left out; gamma is nil if it was in the forward. dx may be dy.
//
//	x̂ = (x − mean)·rstd, g = dy⊙gamma:  dx = rstd·(g − mean(g) − x̂·mean(g⊙x̂)), dgamma = Σ dy⊙x̂, dbeta = Σ dy
//
// The rows are processed in shares, each with its own sums for dgamma and dbeta, which are added up in the end. The
// shares depend on the sizes alone, and therefore so do the bits of the result.
func LayerNormBackward[F Float](dx, dgamma, dbeta, dy, x, gamma, mean, rstd []F, cols int) {
	const name = "layer norm backward"
	rows := fitRows(name, len(x), cols)
	fit(name, len(x), len(dy))
	fit(name, rows, len(mean), len(rstd))
	fitOrNil(name, cols, gamma, dgamma, dbeta)
	fitOrNil(name, len(x), dx)
	clear(dgamma)
	clear(dbeta)
	if rows == 0 {
		return
	}
	pool := poolOf[F](&workspaces)
	w := pool.Get().(*workspace[F])
	defer pool.Put(w)
	shares := normShares(rows, cols)
	c := layerNormBackwardCall[F]{dx: dx, dy: dy, x: x, gamma: gamma, mean: mean, rstd: rstd, cols: cols}
	if dgamma != nil || dbeta != nil {
		c.sums = room(&w.a, shares*2*cols)
		clear(c.sums)
	}
	parallel.Do(c, shares, 1)
	for s := range shares {
		for i, d := range [2][]F{dgamma, dbeta} {
			if d != nil {
				simd.AddRows(1, cols, d, d, c.sums[(2*s+i)*cols:][:cols])
			}
		}
	}
}

// normShares returns the number of shares for rows that are summed: enough for many cores.
func normShares(rows, cols int) int { return min(1+rows*cols/grainFast, 16, rows) }

// A layerNormBackwardCall is split by shares.
type layerNormBackwardCall[F Float] struct {
	dx, dy, x, gamma, mean, rstd []F
	sums                         []F // the dgamma and the dbeta of each share; nil if neither is requested
	cols                         int
}

func (c layerNormBackwardCall[F]) Do(lo, hi int) {
	cols, rows := c.cols, len(c.mean)
	shares := normShares(rows, cols)
	for s := lo; s < hi; s++ {
		first, end := parallel.Share(s, shares, rows), parallel.Share(s+1, shares, rows)
		from, to := first*cols, end*cols
		n, dy, x, mean, rstd := end-first, c.dy[from:to], c.x[from:to], c.mean[first:end], c.rstd[first:end]
		if c.sums != nil {
			sums := c.sums[2*s*cols:][:2*cols]
			simd.NormColumns(n, cols, sums[:cols], sums[cols:], dy, x, mean, rstd)
		}
		if c.dx != nil {
			simd.NormBackwardRows(n, cols, c.dx[from:to], dy, x, c.gamma, mean, rstd)
		}
	}
}
