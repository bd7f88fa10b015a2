package kernel

import "math"

// tanhGo is within 3 units in the last place, as the assembly is.
func tanhGo[F Float](y, x []F) { ofOne(y, x, func(x F) F { return F(math.Tanh(float64(x))) }) }

// y = tanh x:  dx = dy⊙(1 − y²).
func tanhBackwardGo[F Float](dx, y, dy []F) {
	ofTwo(dx, y, dy, func(y, dy F) F {
		return dy * (1 - F(y*y)) // rounded, even on processors that can fuse the two operations
	})
}

func softcap[F Float](y, x []F, limit F) {
	chunks(0, len(x), func(lo, hi int) {
		y := y[lo:hi]
		scale(chosenPath, y, x[lo:hi], 1/limit)
		tanh(chosenPath, y, y)
		scale(chosenPath, y, y, limit)
	})
}

// y = limit·tanh(x/limit):  dx = dy⊙(1 − (y/limit)²).
func softcapSlope[F Float](dx, y, dy []F, limit F) {
	inverse := 1 / limit
	ofTwo(dx, y, dy, func(y, dy F) F {
		y *= inverse
		return dy * (1 - F(y*y)) // rounded, as in tanhBackwardGo
	})
}

// clamp keeps NaN.
func clamp[F Float](y, x []F, low, high F) {
	ofOne(y, x, func(x F) F { return min(max(x, low), high) })
}

// dx = dy where low < x < high, else 0.
func clampSlope[F Float](dx, x, dy []F, low, high F) {
	dx, dy = dx[:len(x)], dy[:len(x)]
	for i, v := range x {
		d := dy[i]
		if !(v > low && v < high) {
			d = 0
		}
		dx[i] = d
	}
}

// relu keeps NaN.
func relu[F Float](y, x []F) { ofOne(y, x, func(x F) F { return max(x, 0) }) }

// dx = dy where y is above 0 or NaN, else 0.
func reluSlope[F Float](dx, y, dy []F) {
	dx, dy = dx[:len(y)], dy[:len(y)]
	for i, v := range y {
		d := dy[i]
		if v <= 0 {
			d = 0
		}
		dx[i] = d
	}
}

func reluSquared[F Float](y, x []F) {
	ofOne(y, x, func(x F) F {
		x = max(x, 0)
		return x * x
	})
}
