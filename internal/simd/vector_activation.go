package simd

import "math"

// tanhGo is within 3 units in the last place, as the assembly is.
func tanhGo[F Float](y, x []F) { ofOne(y, x, func(x F) F { return F(math.Tanh(float64(x))) }) }

// y = tanh x:  dx = dy⊙(1 − y²).
func tanhBackwardGo[F Float](dx, y, dy []F) {
	ofTwo(dx, y, dy, func(y, dy F) F {
		return dy * (1 - F(y*y)) // rounded, even on processors that can fuse the two operations
	})
}

// Softcap sets y ← limit·tanh(x/limit).
func Softcap[F Float](y, x []F, limit F) {
	Chunks(0, len(x), func(lo, hi int) {
		y := y[lo:hi]
		Scale(y, x[lo:hi], 1/limit)
		Tanh(y, y)
		Scale(y, y, limit)
	})
}

// y = limit·tanh(x/limit):  dx = dy⊙(1 − (y/limit)²).
func SoftcapSlope[F Float](dx, y, dy []F, limit F) {
	inverse := 1 / limit
	ofTwo(dx, y, dy, func(y, dy F) F {
		y *= inverse
		return dy * (1 - F(y*y)) // rounded, as in tanhBackwardGo
	})
}

// Clamp keeps NaN.
func Clamp[F Float](y, x []F, low, high F) {
	ofOne(y, x, func(x F) F { return min(max(x, low), high) })
}

// dx = dy where low < x < high, else 0.
func ClampSlope[F Float](dx, x, dy []F, low, high F) {
	dx, dy = dx[:len(x)], dy[:len(x)]
	for i, v := range x {
		d := dy[i]
		if !(v > low && v < high) {
			d = 0
		}
		dx[i] = d
	}
}

// ReLU keeps NaN.
func ReLU[F Float](y, x []F) { ofOne(y, x, func(x F) F { return max(x, 0) }) }

// dx = dy where y is above 0 or NaN, else 0.
func ReLUSlope[F Float](dx, y, dy []F) {
	dx, dy = dx[:len(y)], dy[:len(y)]
	for i, v := range y {
		d := dy[i]
		if v <= 0 {
			d = 0
		}
		dx[i] = d
	}
}

// ReLUSquaredSlope sets dx ← dy⊙2·max(x, 0).
func ReLUSquaredSlope[F Float](dx, x, dy []F) {
	ofTwo(dx, x, dy, func(x, dy F) F { return 2 * max(x, 0) * dy })
}

// ReLUSquared sets y ← max(x, 0)².
func ReLUSquared[F Float](y, x []F) {
	ofOne(y, x, func(x F) F {
		x = max(x, 0)
		return x * x
	})
}
