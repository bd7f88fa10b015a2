package kernel

import "attention/internal/parallel"

// Softmax writes exp(x−max)/Σexp(x−max) of every row of cols elements to y, which may be x. A row that is −∞
// throughout gives zeros; one with a NaN or +∞ gives NaN.
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
	softmaxRows(chosenPath, hi-lo, c.cols, c.y[from:to], c.x[from:to], 1, 0)
}

// A NaN that the maximum has lost is still in the sum.
func softmaxRowsGo[F Float](rows, cols int, y, x []F, scale, empty F) {
	for r := range rows {
		xr, yr := x[r*cols:][:cols], y[r*cols:][:cols]
		shift := rowShift(rowTop(xr))
		var sum F
		for i, v := range xr {
			e := expOf(v - shift)
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
	parallel.Do(softmaxBackwardCall[F]{dx, y, dy, cols}, rows, rowGrain(grainFast, cols))
}

type softmaxBackwardCall[F Float] struct {
	dx, y, dy []F
	cols      int
}

func (c softmaxBackwardCall[F]) Do(lo, hi int) {
	from, to := lo*c.cols, hi*c.cols
	softmaxBackwardRows(chosenPath, hi-lo, c.cols, c.dx[from:to], c.y[from:to], c.dy[from:to])
}

func softmaxBackwardRowsGo[F Float](rows, cols int, dx, y, dy []F) {
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

func sumExpRowsGo[F Float](rows, cols int, x, top, sum []F) {
	for r := range rows {
		row := x[r*cols:][:cols]
		top[r] = rowTop(row)
		shift, total := rowShift(top[r]), 0.0
		for _, v := range row {
			total += float64(expOf(v - shift))
		}
		sum[r] = F(total)
	}
}

// rowTop returns the maximum of a row; a NaN gets lost.
func rowTop[F Float](x []F) F {
	top := lowest[F]()
	for _, v := range x {
		if v > top {
			top = v
		}
	}
	return top
}

// rowShift returns what to subtract for a maximum: 0 instead of −∞, for −∞ − −∞ would be NaN.
func rowShift[F Float](top F) F {
	if top == lowest[F]() {
		return 0
	}
	return top
}
