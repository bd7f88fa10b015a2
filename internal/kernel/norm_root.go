package kernel

import (
	"math"

	"attention/internal/parallel"
	"attention/internal/simd"
)

// A RootNorm is the rule for the factor r of a row: 1/√(mean(x²) + Eps) (RMSNorm: Zhang and Sennrich, arXiv:1910.07467)
// or, by length, 1/max(‖x‖, Eps) (torch's normalize).
type RootNorm struct {
	ByLength bool
	Eps      float64
}

// of returns the r of a row of n elements with the given sum of squares, and its slope: dr/dx = −r·slope·x.
func (f RootNorm) of(squares float64, n int) (r, slope float64) {
	if !f.ByLength {
		r = 1 / math.Sqrt(squares/float64(n)+f.Eps)
		return r, r * r / float64(n)
	}
	norm := math.Sqrt(squares)
	if norm < f.Eps {
		return 1 / f.Eps, 0
	}
	return 1 / norm, 1 / squares
}

// NormByRoot writes y = x·r⊙weight for every row of len(weight) elements. y may be x.
func NormByRoot[F Float](y, x, weight []F, f RootNorm) {
	fit("norm", len(x), len(y))
	rows := fitRows("norm", len(x), len(weight))
	parallel.Do(rootNormCall[F]{y, x, weight, f}, rows, rowGrain(grainFast, len(weight)))
}

type rootNormCall[F Float] struct {
	y, x, weight []F
	factor       RootNorm
}

// rootsTogether is how many rows have their factors computed before they are scaled.
const rootsTogether = 64

func (c rootNormCall[F]) Do(lo, hi int) {
	cols := len(c.weight)
	var factors [rootsTogether]F
	for ; lo < hi; lo += rootsTogether {
		n := min(rootsTogether, hi-lo)
		y, x := c.y[lo*cols:][:n*cols], c.x[lo*cols:][:n*cols]
		for i := range n {
			factor, _ := c.factor.of(simd.SumSquares(x[i*cols:][:cols]), cols)
			factors[i] = F(factor)
		}
		simd.RootRows(n, cols, y, x, c.weight, factors[:n])
	}
}

// NormByRootBackward writes the gradients of NormByRoot for the gradient dy of y. With g = dy⊙weight:
//
//	dx = r·(g − x·slope·Σ g⊙x), dweight = Σ dy⊙x·r over the rows
//
// The rows are processed in shares, each with its own sum for dweight, which is stored in place of the dx of its last
// row. When all sums are complete, they are added up and these last rows follow. The shares depend on the sizes alone,
// and therefore so do the bits of the result.
func NormByRootBackward[F Float](dx, dweight, dy, x, weight []F, f RootNorm) {
	const name = "norm backward"
	cols := len(weight)
	fit(name, len(x), len(dx), len(dy))
	fit(name, cols, len(dweight))
	rows := fitRows(name, len(x), cols)
	clear(dweight)
	shares := normShares(rows, cols)
	c := rootNormBackwardCall[F]{dx, dy, x, weight, f}
	parallel.Do(c, shares, 1)
	for s := range shares {
		last := parallel.Share(s+1, shares, rows) - 1
		simd.AddRows(1, cols, dweight, dweight, dx[last*cols:][:cols])
		c.rows(last, last+1, dweight)
	}
}

// A rootNormBackwardCall is split by shares.
type rootNormBackwardCall[F Float] struct {
	dx, dy, x, weight []F
	factor            RootNorm
}

// do processes the shares [lo,hi) except their last rows.
func (c rootNormBackwardCall[F]) Do(lo, hi int) {
	cols := len(c.weight)
	rows := len(c.x) / cols
	shares := normShares(rows, cols)
	for s := lo; s < hi; s++ {
		last := parallel.Share(s+1, shares, rows) - 1
		sum := c.dx[last*cols:][:cols]
		clear(sum)
		c.rows(parallel.Share(s, shares, rows), last, sum)
	}
}

// rows writes the dx of the rows [lo,hi), and adds what they contribute to dweight to a sum.
func (c *rootNormBackwardCall[F]) rows(lo, hi int, sum []F) {
	cols := len(c.weight)
	var factors, along [rootsTogether]F
	for ; lo < hi; lo += rootsTogether {
		n := min(rootsTogether, hi-lo)
		dx, dy, x := c.dx[lo*cols:][:n*cols], c.dy[lo*cols:][:n*cols], c.x[lo*cols:][:n*cols]
		for i := range n {
			dy, x := dy[i*cols:][:cols], x[i*cols:][:cols]
			factor, slope := c.factor.of(simd.SumSquares(x), cols)
			factors[i], along[i] = F(factor), F(slope*simd.SumProducts(dy, x, c.weight))
		}
		simd.RootBackwardRows(n, cols, dx, sum, dy, x, c.weight, factors[:n], along[:n])
	}
}
