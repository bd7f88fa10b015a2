package kernel

import "math"

// tanhGo is within 3 units in the last place, as the assembly is.
func tanhGo[F Float](y, x []F) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = F(math.Tanh(float64(v)))
	}
}

// y = tanh x:  dx = dy⊙(1 − y²).
func tanhBackwardGo[F Float](dx, y, dy []F) {
	dx, dy = dx[:len(y)], dy[:len(y)]
	for i, v := range y {
		dx[i] = dy[i] * (1 - F(v*v)) // rounded, even on processors that can fuse the two operations
	}
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
	dx, dy = dx[:len(y)], dy[:len(y)]
	inverse := 1 / limit
	for i, v := range y {
		v *= inverse
		dx[i] = dy[i] * (1 - F(v*v)) // rounded, even on processors that can fuse the two operations
	}
}

// clamp keeps NaN.
func clamp[F Float](y, x []F, low, high F) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = min(max(v, low), high)
	}
}

// dx = dy where low ≤ x ≤ high, else 0.
func clampSlope[F Float](dx, x, dy []F, low, high F) {
	dx, dy = dx[:len(x)], dy[:len(x)]
	for i, v := range x {
		d := dy[i]
		if !(v >= low && v <= high) {
			d = 0
		}
		dx[i] = d
	}
}

// relu keeps NaN.
func relu[F Float](y, x []F) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = max(v, 0)
	}
}

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
