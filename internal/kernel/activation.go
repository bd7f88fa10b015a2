package kernel

import "math"

// Tanh writes the hyperbolic tangent of x to y, of one length; y may be x. A result is within 3 units in the
// last place.
func Tanh[F Float](y, x []F) {
	fit("tanh", len(x), len(y))
	vectorTask[F]{kind: taskTanh, a: y, b: x}.start(len(x), grainSlow)
}

func tanhPlain[F Float](y, x []F) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = F(math.Tanh(float64(v)))
	}
}

// TanhBackward writes dx = dy⊙(1 − y²) for y = tanh x. dx may be y or dy.
func TanhBackward[F Float](dx, y, dy []F) {
	fit("tanh backward", len(y), len(dy), len(dx))
	vectorTask[F]{kind: taskTanhBackward, a: dx, b: y, c: dy}.start(len(y), grainFast)
}

func tanhBackwardPlain[F Float](dx, y, dy []F) {
	dx, dy = dx[:len(y)], dy[:len(y)]
	for i, v := range y {
		dx[i] = dy[i] * (1 - F(v*v)) // rounded, also where the processor could do without
	}
}

// geluFactor is 2√(2/π), geluCube the factor of x³ in GELU's tanh form.
const (
	geluFactor = 1.5957691216057307117597842397375
	geluCube   = 0.044715
)

// GELUTanh writes ½x·(1 + tanh(√(2/π)·(x + 0.044715·x³))) to y (Hendrycks and Gimpel, arXiv:1606.08415; torch's
// gelu with approximate="tanh"), of one length; y may be x.
//
//	½·(1 + tanh(u/2)) = 1/(1 + e^−u)
func GELUTanh[F Float](y, x []F) {
	fit("gelu", len(x), len(y))
	vectorTask[F]{kind: taskGELUTanh, a: y, b: x}.start(len(x), grainSlow)
}

func geluTanhPlain[F Float](y, x []F) {
	y = y[:len(x)]
	for i, v := range x {
		x := float64(v)
		y[i] = F(x / (1 + math.Exp(-geluFactor*(x+geluCube*x*x*x))))
	}
}

// GELUTanhBackward writes dx = dy⊙GELUTanh′(x). dx may be x or dy.
//
//	y = x·s, s = 1/(1 + e^−u):  dy/dx = s + x·s·(1−s)·u′, 1−s = e^−u·s
func GELUTanhBackward[F Float](dx, x, dy []F) {
	fit("gelu backward", len(x), len(dy), len(dx))
	vectorTask[F]{kind: taskGELUTanhBackward, a: dx, b: x, c: dy}.start(len(x), grainSlow)
}

func geluTanhBackwardPlain[F Float](dx, x, dy []F) {
	dx, dy = dx[:len(x)], dy[:len(x)]
	for i, v := range x {
		x := math.Max(-21, math.Min(float64(v), 21)) // the slope is 0 and 1 outside
		e := math.Exp(-geluFactor * (x + geluCube*x*x*x))
		s := 1 / (1 + e)
		dx[i] = dy[i] * F(s+x*e*s*s*geluFactor*(1+3*geluCube*x*x))
	}
}

// GELU writes x·Φ(x) to y, Φ the normal distribution (torch's gelu), of one length; y may be x.
func GELU[F Float](y, x []F) {
	fit("gelu", len(x), len(y))
	vectorTask[F]{kind: taskGELU, a: y, b: x}.start(len(x), grainSlow)
}

func geluPlain[F Float](y, x []F) {
	for i, v := range x {
		y[i] = F(float64(v) * normal(float64(v)))
	}
}

// normal is Φ(x), by the complement of erf so that small values keep their digits.
func normal(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// GELUBackward writes dx = dy⊙(Φ(x) + x·Φ′(x)). dx may be x or dy.
func GELUBackward[F Float](dx, x, dy []F) {
	fit("gelu backward", len(x), len(dy), len(dx))
	vectorTask[F]{kind: taskGELUBackward, a: dx, b: x, c: dy}.start(len(x), grainSlow)
}

func geluBackwardPlain[F Float](dx, x, dy []F) {
	root := 1 / math.Sqrt(2*math.Pi)
	for i, v := range x {
		x := math.Max(-40, math.Min(float64(v), 40)) // the slope is 0 and 1 outside
		dx[i] = dy[i] * F(normal(x)+x*root*math.Exp(-x*x/2))
	}
}

// Softcap writes limit·tanh(x/limit) to y, of one length; y may be x.
func Softcap[F Float](y, x []F, limit float64) {
	fit("softcap", len(x), len(y))
	vectorTask[F]{kind: taskSoftcap, a: y, b: x, x: F(limit)}.start(len(x), grainSlow)
}

func softcapRun[F Float](p path, y, x []F, limit F) {
	chunks(len(x), func(lo, hi int) {
		y := y[lo:hi]
		scaleRun(p, y, x[lo:hi], 1/limit)
		tanhRun(p, y, y)
		scaleRun(p, y, y, limit)
	})
}

// SoftcapBackward writes dx = dy⊙(1 − (y/limit)²) for y = Softcap(x). dx may be y or dy.
func SoftcapBackward[F Float](dx, y, dy []F, limit float64) {
	fit("softcap backward", len(y), len(dy), len(dx))
	vectorTask[F]{kind: taskSoftcapBackward, a: dx, b: y, c: dy, x: F(limit)}.start(len(y), grainFast)
}

func softcapBackwardRun[F Float](dx, y, dy []F, limit F) {
	dx, dy = dx[:len(y)], dy[:len(y)]
	inverse := 1 / limit
	for i, v := range y {
		v *= inverse
		dx[i] = dy[i] * (1 - F(v*v)) // rounded, also where the processor could do without
	}
}
