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

// A rowFactor is how the factor r of a row comes about.
type rowFactor struct {
	kind rowFactorKind
	eps  float64
}

type rowFactorKind uint8

const (
	byMeanSquare rowFactorKind = iota
	byLength
)

// of is the r of a row of n elements whose squares have a sum, and its slope: dr/dx = −r·slope·x.
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
	vectorTask[F]{kind: taskRootNorm, a: y, b: x, c: weight, factor: f}.start(rows, rowGrain(grainFast, len(weight)))
}

func (t *vectorTask[F]) rootNorm(p path, lo, hi int) {
	weight, cols := t.c, len(t.c)
	for i := lo; i < hi; i++ {
		y, x := t.a[i*cols:][:cols], t.b[i*cols:][:cols]
		factor, _ := t.factor.of(sumSquaresRun(p, x), cols)
		r := F(factor)
		for j, v := range x {
			y[j] = v * r * weight[j]
		}
	}
}

// With g = dy⊙weight:  dx = r·(g − x·slope·Σ g⊙x), dweight = Σ dy⊙x·r over the rows.
//
// The rows are done in shares, each with a sum for dweight of its own, which stands where the dx of its last row
// belongs. When all sums are done, they are added up and these last rows follow. The shares depend on the sizes
// alone, and so do the bits of the result.
func rootNormBackward[F Float](name string, dx, dweight, dy, x, weight []F, f rowFactor) {
	cols := len(weight)
	fit(name, len(x), len(dx), len(dy))
	fit(name, cols, len(dweight))
	rows := fitRows(name, len(x), cols)
	clear(dweight)
	shares := normShares(rows, cols)
	t := vectorTask[F]{kind: taskRootNormBackward, a: dx, b: dy, c: x, d: weight, factor: f}
	t.start(shares, 1)
	for s := range shares {
		last := block(s+1, shares, rows) - 1
		addRows(chosenPath, 1, cols, dweight, dweight, dx[last*cols:][:cols])
		t.rootNormBackwardRow(chosenPath, last, dweight)
	}
}

// rootNormBackward does the shares [lo,hi) but for their last rows.
func (t *vectorTask[F]) rootNormBackward(p path, lo, hi int) {
	cols := len(t.d)
	rows := len(t.c) / cols
	shares := normShares(rows, cols)
	for s := lo; s < hi; s++ {
		last := block(s+1, shares, rows) - 1
		sum := t.a[last*cols:][:cols]
		clear(sum)
		for i := block(s, shares, rows); i < last; i++ {
			t.rootNormBackwardRow(p, i, sum)
		}
	}
}

// rootNormBackwardRow writes the dx of row i, and adds what the row has for dweight to a sum.
func (t *vectorTask[F]) rootNormBackwardRow(p path, i int, sum []F) {
	weight, cols := t.d, len(t.d)
	dx, dy, x := t.a[i*cols:][:cols], t.b[i*cols:][:cols], t.c[i*cols:][:cols]
	factor, slope := t.factor.of(sumSquaresRun(p, x), cols)
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
