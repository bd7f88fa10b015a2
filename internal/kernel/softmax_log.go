package kernel

import (
	"math"

	"attention/internal/parallel"
	"attention/internal/simd"
)

// LogSoftmax writes x − log Σexp(x) of every row of cols elements to y, which may be x. A row of −∞ only is unchanged.
func LogSoftmax[F Float](y, x []F, cols int) {
	fit("log softmax", len(x), len(y))
	parallel.Do(logSoftmaxCall[F]{y, x, cols}, fitRows("log softmax", len(x), cols), rowGrain(grainSlow, cols))
}

type logSoftmaxCall[F Float] struct {
	y, x []F
	cols int
}

func (c logSoftmaxCall[F]) Do(lo, hi int) {
	var top, sum [1]F
	for i := lo; i < hi; i++ {
		x, y := c.x[i*c.cols:][:c.cols], c.y[i*c.cols:][:c.cols]
		simd.SumExpRows(1, c.cols, x, top[:], sum[:])
		shift, log := simd.RowShift(top[0]), F(math.Log(float64(sum[0])))
		if sum[0] == 0 {
			log = 0
		}
		for j, v := range x {
			y[j] = v - shift - log
		}
	}
}

// LogSoftmaxBackward writes dx = dy − softmax(x)·Σ dy of every row of cols elements, for y = LogSoftmax(x); 0 in a row
// of −∞ only. dx may be y or dy.
func LogSoftmaxBackward[F Float](dx, y, dy []F, cols int) {
	fit("log softmax backward", len(y), len(dy), len(dx))
	rows := fitRows("log softmax", len(y), cols)
	parallel.Do(logSoftmaxBackwardCall[F]{dx, y, dy, cols}, rows, rowGrain(grainSlow, cols))
}

type logSoftmaxBackwardCall[F Float] struct {
	dx, y, dy []F
	cols      int
}

func (c logSoftmaxBackwardCall[F]) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		dx, y, dy := c.dx[i*c.cols:][:c.cols], c.y[i*c.cols:][:c.cols], c.dy[i*c.cols:][:c.cols]
		if simd.MaxOf(y) == simd.NegInf[F]() {
			clear(dx)
			continue
		}
		total := F(simd.Sum(dy))
		var room [simd.Chunk]F
		simd.Chunks(0, c.cols, func(lo, hi int) {
			p := room[:hi-lo]
			simd.Exp(p, y[lo:hi])
			for j, v := range p {
				dx[lo+j] = dy[lo+j] - v*total
			}
		})
	}
}
