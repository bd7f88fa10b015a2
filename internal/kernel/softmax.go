package kernel

// Softmax writes exp(x−max)/Σexp(x−max) of every row of cols elements to y, which may be x. A row that is −∞
// throughout gives zeros; one with a NaN or +∞ gives NaN.
func Softmax[F Float](y, x []F, cols int) {
	fit("softmax", len(x), len(y))
	rows := fitRows("softmax", len(x), cols)
	vectorTask[F]{kind: taskSoftmax, a: y, b: x, cols: cols}.start(rows, rowGrain(grainSlow, cols))
}

// softmaxRowsPlain is softmaxRows in plain Go. A NaN that the maximum has lost is still in the sum.
func softmaxRowsPlain[F Float](rows, cols int, y, x []F, scale, empty F) {
	for r := range rows {
		xr, yr := x[r*cols:][:cols], y[r*cols:][:cols]
		shift := rowShift(rowTop(xr))
		var sum F
		for i, v := range xr {
			e := expGo(v - shift)
			yr[i] = e
			sum += e
		}
		factor := empty
		if sum != 0 {
			factor = scale / sum
		}
		for i := range yr {
			yr[i] *= factor
		}
	}
}

// SoftmaxBackward writes dx = y⊙(dy − Σ dy⊙y) of every row of cols elements. dx may be y or dy.
func SoftmaxBackward[F Float](dx, y, dy []F, cols int) {
	fit("softmax backward", len(y), len(dy), len(dx))
	rows := fitRows("softmax backward", len(y), cols)
	vectorTask[F]{kind: taskSoftmaxBackward, a: dx, b: y, c: dy, cols: cols}.start(rows, rowGrain(grainFast, cols))
}

func softmaxBackwardRowsPlain[F Float](rows, cols int, dx, y, dy []F) {
	for r := range rows {
		dxr, yr, dyr := dx[r*cols:][:cols], y[r*cols:][:cols], dy[r*cols:][:cols]
		var dot F
		for i, v := range yr {
			dot += v * dyr[i]
		}
		for i, v := range yr {
			dxr[i] = v * (dyr[i] - dot)
		}
	}
}
