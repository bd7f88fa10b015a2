package kernel

import (
	"attention/internal/parallel"
	"attention/internal/simd"
)

// Softmax writes exp(x−max)/Σexp(x−max) of every row of cols elements to y, which may be x. A row of −∞ only gives
// zeros; one with a NaN or +∞ gives NaN.
func Softmax[F Float](y, x []F, cols int) {
	fit("softmax", len(x), len(y))
	rows := fitRows("softmax", len(x), cols)
	parallel.Do(softmaxCall[F]{y, x, cols}, rows, rowGrain(grainSlow, cols))
}

type softmaxCall[F Float] struct {
	y, x []F
	cols int
}

func (c softmaxCall[F]) Do(lo, hi int) {
	from, to := lo*c.cols, hi*c.cols
	simd.SoftmaxRows(hi-lo, c.cols, c.y[from:to], c.x[from:to], 1, 0)
}

// SoftmaxBackward writes dx = y⊙(dy − Σ dy⊙y) of every row of cols elements. dx may be y or dy.
func SoftmaxBackward[F Float](dx, y, dy []F, cols int) {
	fit("softmax backward", len(y), len(dy), len(dx))
	rows := fitRows("softmax backward", len(y), cols)
	parallel.Do(softmaxBackwardCall[F]{dx, y, dy, cols}, rows, rowGrain(grainFast, cols))
}

type softmaxBackwardCall[F Float] struct {
	dx, y, dy []F
	cols      int
}

func (c softmaxBackwardCall[F]) Do(lo, hi int) {
	from, to := lo*c.cols, hi*c.cols
	simd.SoftmaxBackwardRows(hi-lo, c.cols, c.dx[from:to], c.y[from:to], c.dy[from:to])
}
