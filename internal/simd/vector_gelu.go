package simd

import "math"

func geluGo[F Float](y, x []F) {
	ofOne(y, x, func(x F) F { return F(float64(x) * normal(float64(x))) })
}

// normal returns Φ(x), by the complement of erf so that small values keep their digits.
func normal(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// y = x·Φ(x):  dx = dy⊙(Φ(x) + x·Φ′(x)).
func geluBackwardGo[F Float](dx, x, dy []F) {
	root := 1 / math.Sqrt(2*math.Pi)
	for i, v := range x {
		x := math.Max(-40, math.Min(float64(v), 40)) // the slope is 0 and 1 outside
		dx[i] = dy[i] * F(normal(x)+x*root*math.Exp(-x*x/2))
	}
}

// geluFactor is 2√(2/π), geluCube the factor of x³.
const (
	geluFactor = 1.5957691216057307117597842397375
	geluCube   = 0.044715
)

// ½·(1 + tanh(u/2)) = 1/(1 + e^−u).
func geluTanhGo[F Float](y, x []F) {
	ofOne(y, x, func(v F) F {
		x := float64(v)
		return F(x / (1 + math.Exp(-geluFactor*(x+geluCube*x*x*x))))
	})
}

// y = x·s, s = 1/(1 + e^−u):  dy/dx = s + x·s·(1−s)·u′, 1−s = e^−u·s.
func geluTanhBackwardGo[F Float](dx, x, dy []F) {
	dx, dy = dx[:len(x)], dy[:len(x)]
	for i, v := range x {
		x := math.Max(-21, math.Min(float64(v), 21)) // the slope is 0 and 1 outside
		e := math.Exp(-geluFactor * (x + geluCube*x*x*x))
		s := 1 / (1 + e)
		dx[i] = dy[i] * F(s+x*e*s*s*geluFactor*(1+3*geluCube*x*x))
	}
}
