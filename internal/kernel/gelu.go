package kernel

import "math"

// GELU writes x·Φ(x) to y, Φ the normal distribution (torch's gelu), of one length; y may be x.
func GELU[F Float](y, x []F) {
	fit("gelu", len(x), len(y))
	split(geluCall[F]{y, x}, len(x), grainSlow)
}

type geluCall[F Float] struct{ y, x []F }

func (c geluCall[F]) do(lo, hi int) { gelu(chosenPath, c.y[lo:hi], c.x[lo:hi]) }

func geluGo[F Float](y, x []F) {
	for i, v := range x {
		y[i] = F(float64(v) * normal(float64(v)))
	}
}

// normal returns Φ(x), by the complement of erf so that small values keep their digits.
func normal(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// GELUBackward writes dx = dy⊙(Φ(x) + x·Φ′(x)). dx may be x or dy.
func GELUBackward[F Float](dx, x, dy []F) {
	fit("gelu backward", len(x), len(dy), len(dx))
	split(geluBackwardCall[F]{dx, x, dy}, len(x), grainSlow)
}

type geluBackwardCall[F Float] struct{ dx, x, dy []F }

func (c geluBackwardCall[F]) do(lo, hi int) {
	geluBackward(chosenPath, c.dx[lo:hi], c.x[lo:hi], c.dy[lo:hi])
}

func geluBackwardGo[F Float](dx, x, dy []F) {
	root := 1 / math.Sqrt(2*math.Pi)
	for i, v := range x {
		x := math.Max(-40, math.Min(float64(v), 40)) // the slope is 0 and 1 outside
		dx[i] = dy[i] * F(normal(x)+x*root*math.Exp(-x*x/2))
	}
}

// GELUTanh writes ½x·(1 + tanh(√(2/π)·(x + 0.044715·x³))) to y (Hendrycks and Gimpel, arXiv:1606.08415; torch's
// gelu with approximate="tanh"), of one length; y may be x.
//
//	½·(1 + tanh(u/2)) = 1/(1 + e^−u)
func GELUTanh[F Float](y, x []F) {
	fit("gelu tanh", len(x), len(y))
	split(geluTanhCall[F]{y, x}, len(x), grainSlow)
}

type geluTanhCall[F Float] struct{ y, x []F }

func (c geluTanhCall[F]) do(lo, hi int) { geluTanh(chosenPath, c.y[lo:hi], c.x[lo:hi]) }

// geluFactor is 2√(2/π), geluCube the factor of x³.
const (
	geluFactor = 1.5957691216057307117597842397375
	geluCube   = 0.044715
)

func geluTanhGo[F Float](y, x []F) {
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
	fit("gelu tanh backward", len(x), len(dy), len(dx))
	split(geluTanhBackwardCall[F]{dx, x, dy}, len(x), grainSlow)
}

type geluTanhBackwardCall[F Float] struct{ dx, x, dy []F }

func (c geluTanhBackwardCall[F]) do(lo, hi int) {
	geluTanhBackward(chosenPath, c.dx[lo:hi], c.x[lo:hi], c.dy[lo:hi])
}

func geluTanhBackwardGo[F Float](dx, x, dy []F) {
	dx, dy = dx[:len(x)], dy[:len(x)]
	for i, v := range x {
		x := math.Max(-21, math.Min(float64(v), 21)) // the slope is 0 and 1 outside
		e := math.Exp(-geluFactor * (x + geluCube*x*x*x))
		s := 1 / (1 + e)
		dx[i] = dy[i] * F(s+x*e*s*s*geluFactor*(1+3*geluCube*x*x))
	}
}
