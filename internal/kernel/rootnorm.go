package kernel

import "math"

// RMSNorm writes y = x·r⊙weight for every row of len(weight) elements, with the row's r = 1/√(mean(x²) + eps)
// (Zhang and Sennrich, arXiv:1910.07467). y may be x.
func RMSNorm[F Float](y, x, weight []F, eps float64) {
	rootNorm("rms norm", y, x, weight, rowFactor{byMeanSquare, eps})
}

// RMSNormBackward writes the gradients of RMSNorm for the gradient dy of y.
func RMSNormBackward[F Float](dx, dweight, dy, x, weight []F, eps float64) {
	rootNormBackward("rms norm backward", dx, dweight, dy, x, weight, rowFactor{byMeanSquare, eps})
}

// L2Norm writes y = x·r⊙weight for every row of len(weight) elements, with the row's r = 1/max(‖x‖, eps)
// (torch's normalize). y may be x.
func L2Norm[F Float](y, x, weight []F, eps float64) {
	rootNorm("l2 norm", y, x, weight, rowFactor{byLength, eps})
}

// L2NormBackward writes the gradients of L2Norm for the gradient dy of y.
func L2NormBackward[F Float](dx, dweight, dy, x, weight []F, eps float64) {
	rootNormBackward("l2 norm backward", dx, dweight, dy, x, weight, rowFactor{byLength, eps})
}

// A rowFactor is the rule for the factor r of a row.
type rowFactor struct {
	kind rowFactorKind
	eps  float64
}

type rowFactorKind uint8

const (
	byMeanSquare rowFactorKind = iota
	byLength
)

// of returns the r of a row of n elements with the given sum of squares, and its slope: dr/dx = −r·slope·x.
func (f rowFactor) of(squares float64, n int) (r, slope float64) {
	if f.kind == byMeanSquare {
		r = 1 / math.Sqrt(squares/float64(n)+f.eps)
		return r, r * r / float64(n)
	}
	norm := math.Sqrt(squares)
	if norm < f.eps {
		return 1 / f.eps, 0
	}
	return 1 / norm, 1 / squares
}

func rootNorm[F Float](name string, y, x, weight []F, f rowFactor) {
	fit(name, len(x), len(y))
	rows := fitRows(name, len(x), len(weight))
	split(rootNormCall[F]{y, x, weight, f}, rows, rowGrain(grainFast, len(weight)))
}

type rootNormCall[F Float] struct {
	y, x, weight []F
	factor       rowFactor
}

func (c rootNormCall[F]) do(lo, hi int) {
	weight, cols := c.weight, len(c.weight)
	for i := lo; i < hi; i++ {
		y, x := c.y[i*cols:][:cols], c.x[i*cols:][:cols]
		factor, _ := c.factor.of(sumSquares(chosenPath, x), cols)
		r := F(factor)
		for j, v := range x {
			y[j] = v * r * weight[j]
		}
	}
}

// With g = dy⊙weight:  dx = r·(g − x·slope·Σ g⊙x), dweight = Σ dy⊙x·r over the rows.
//
// The rows are done in shares, each with its own sum for dweight, which stands where the dx of its last row belongs.
// When all sums are done, they are added up and these last rows follow. The shares depend on the sizes alone, and so
// do the bits of the result.
func rootNormBackward[F Float](name string, dx, dweight, dy, x, weight []F, f rowFactor) {
	cols := len(weight)
	fit(name, len(x), len(dx), len(dy))
	fit(name, cols, len(dweight))
	rows := fitRows(name, len(x), cols)
	clear(dweight)
	shares := normShares(rows, cols)
	c := rootNormBackwardCall[F]{dx, dy, x, weight, f}
	split(c, shares, 1)
	for s := range shares {
		last := block(s+1, shares, rows) - 1
		addRows(chosenPath, 1, cols, dweight, dweight, dx[last*cols:][:cols])
		c.row(last, dweight)
	}
}

// A rootNormBackwardCall is split by shares.
type rootNormBackwardCall[F Float] struct {
	dx, dy, x, weight []F
	factor            rowFactor
}

// do does the shares [lo,hi) except for their last rows.
func (c rootNormBackwardCall[F]) do(lo, hi int) {
	cols := len(c.weight)
	rows := len(c.x) / cols
	shares := normShares(rows, cols)
	for s := lo; s < hi; s++ {
		last := block(s+1, shares, rows) - 1
		sum := c.dx[last*cols:][:cols]
		clear(sum)
		for i := block(s, shares, rows); i < last; i++ {
			c.row(i, sum)
		}
	}
}

// row writes the dx of row i, and adds what the row contributes to dweight to a sum.
func (c *rootNormBackwardCall[F]) row(i int, sum []F) {
	weight, cols := c.weight, len(c.weight)
	dx, dy, x := c.dx[i*cols:][:cols], c.dy[i*cols:][:cols], c.x[i*cols:][:cols]
	factor, slope := c.factor.of(sumSquares(chosenPath, x), cols)
	r, dot := F(factor), 0.0
	sum = sum[:cols]
	for j, v := range x {
		product := dy[j] * v
		sum[j] += product * r
		dot += float64(product) * float64(weight[j])
	}
	along := F(slope * dot)
	for j, v := range x {
		dx[j] = r * (dy[j]*weight[j] - v*along)
	}
}
