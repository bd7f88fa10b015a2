package kernel

import "math"

// Softmax writes exp(x−max)/Σexp(x−max) of every row of cols elements to y. A row
// that is −∞ throughout gives zeros.
func Softmax[F Float](y, x []F, cols int) {
	rows := len(x) / max(cols, 1)
	Parallel(rows, 1+4096/max(cols, 1), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			softmaxRow(y[r*cols:(r+1)*cols], x[r*cols:(r+1)*cols])
		}
	})
}

func softmaxRow[F Float](y, x []F) {
	top := F(math.Inf(-1))
	for _, v := range x {
		if v > top || v != v { // a NaN stays, and reaches the result
			top = v
		}
	}
	if math.IsInf(float64(top), -1) {
		clear(y)
		return
	}
	var sum F
	for i, v := range x {
		e := F(math.Exp(float64(v - top)))
		y[i] = e
		sum += e
	}
	for i := range y {
		y[i] /= sum
	}
}

// SoftmaxBackward writes dx = y⊙(dy − Σ dy⊙y) of every row of cols elements.
func SoftmaxBackward[F Float](dx, y, dy []F, cols int) {
	rows := len(y) / max(cols, 1)
	Parallel(rows, 1+8192/max(cols, 1), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			softmaxBackwardRow(dx[r*cols:(r+1)*cols], y[r*cols:(r+1)*cols], dy[r*cols:(r+1)*cols])
		}
	})
}

func softmaxBackwardRow[F Float](dx, y, dy []F) {
	var dot F
	for i, v := range y {
		dot += v * dy[i]
	}
	for i, v := range y {
		dx[i] = v * (dy[i] - dot)
	}
}

// LogSumExp is log Σexp(x), shifted by the maximum so that it cannot overflow.
func LogSumExp[F Float](x []F) float64 {
	top := math.Inf(-1)
	for _, v := range x {
		top = math.Max(top, float64(v))
	}
	if math.IsInf(top, 0) {
		return top
	}
	var sum float64
	for _, v := range x {
		sum += math.Exp(float64(v) - top)
	}
	return top + math.Log(sum)
}
