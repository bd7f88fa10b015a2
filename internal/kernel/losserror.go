package kernel

import "math"

// SquaredError is (x − y)².
func SquaredError[F Float](l []float64, x, y, _ []F, _ float64) {
	y = y[:len(x)]
	for i, v := range x {
		d := float64(v) - float64(y[i])
		l[i] = d * d
	}
}

// SquaredErrorSlope is 2(x − y).
func SquaredErrorSlope[F Float](l []float64, x, y, _ []F, _ float64) {
	y = y[:len(x)]
	for i, v := range x {
		l[i] = 2 * (float64(v) - float64(y[i]))
	}
}

// AbsoluteError is |x − y|.
func AbsoluteError[F Float](l []float64, x, y, _ []F, _ float64) {
	for i, v := range x {
		l[i] = math.Abs(float64(v) - float64(y[i]))
	}
}

// AbsoluteErrorSlope is the sign of x − y, and 0 where they are equal.
func AbsoluteErrorSlope[F Float](l []float64, x, y, _ []F, _ float64) {
	for i, v := range x {
		d := float64(v) - float64(y[i])
		if l[i] = math.Copysign(1, d); d == 0 || d != d {
			l[i] = d
		}
	}
}

// HuberError is ½d² for |d| ≤ c, d = x − y, and c·(|d| − ½c) beyond.
func HuberError[F Float](l []float64, x, y, _ []F, c float64) {
	for i, v := range x {
		d := math.Abs(float64(v) - float64(y[i]))
		square := min(d, c)
		l[i] = square * (d - square/2)
	}
}

// HuberErrorSlope is d, but no more than ±c.
func HuberErrorSlope[F Float](l []float64, x, y, _ []F, c float64) {
	for i, v := range x {
		l[i] = max(-c, min(float64(v)-float64(y[i]), c))
	}
}
