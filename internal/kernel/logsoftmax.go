package kernel

import "math"

// LogSoftmax writes x − log Σexp(x) of every row of cols elements to y, which may be x. A row that is −∞ throughout
// stays so; one with a NaN or +∞ gives NaN.
func LogSoftmax[F Float](y, x []F, cols int) {
	fit("log softmax", len(x), len(y))
	rows := fitRows("log softmax", len(x), cols)
	split(logSoftmaxCall[F]{y, x, cols}, rows, rowGrain(grainSlow, cols))
}

type logSoftmaxCall[F Float] struct {
	y, x []F
	cols int
}

func (c logSoftmaxCall[F]) do(lo, hi int) {
	const most = 32
	var top, sum [most]F
	for r0 := lo; r0 < hi; r0 += most {
		n := min(most, hi-r0)
		sumExpRows(chosenPath, n, c.cols, c.x[r0*c.cols:(r0+n)*c.cols], top[:], sum[:])
		for i := range n {
			x, y := c.x[(r0+i)*c.cols:][:c.cols], c.y[(r0+i)*c.cols:][:c.cols]
			shift := 0.0
			if sum[i] != 0 {
				shift = float64(top[i]) + math.Log(float64(sum[i]))
			}
			for j, v := range x {
				y[j] = F(float64(v) - shift)
			}
		}
	}
}

// LogSoftmaxBackward writes dx = dy − exp(y)·Σ dy of every row of cols elements. dx may be y or dy.
func LogSoftmaxBackward[F Float](dx, y, dy []F, cols int) {
	fit("log softmax backward", len(y), len(dy), len(dx))
	rows := fitRows("log softmax backward", len(y), cols)
	split(logSoftmaxBackwardCall[F]{dx, y, dy, cols}, rows, rowGrain(grainSlow, cols))
}

type logSoftmaxBackwardCall[F Float] struct {
	dx, y, dy []F
	cols      int
}

func (c logSoftmaxBackwardCall[F]) do(lo, hi int) {
	var room [256]F
	for r := lo; r < hi; r++ {
		from, to := r*c.cols, (r+1)*c.cols
		total := F(sum(chosenPath, c.dy[from:to]))
		for from < to {
			end := min(from+len(room), to)
			p := room[:end-from]
			exp(chosenPath, p, c.y[from:end])
			dx, dy := c.dx[from:end], c.dy[from:end]
			for j, v := range p {
				dx[j] = dy[j] - v*total
			}
			from = end
		}
	}
}
