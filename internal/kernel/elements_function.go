package kernel

import (
	"attention/internal/parallel"
	"attention/internal/simd"
)

// A Function is a function of a number, y = f(x). NaN, infinities and −0 give the results of package math.
type Function int

const (
	Abs         Function = iota
	Sign                 // 1 with the sign of x, or x if that is 0, −0 or NaN
	Ceil                 // the least integer ≥ x
	Floor                // the greatest integer ≤ x
	Sqrt                 // √x
	Inverse              // 1/x
	InverseSqrt          // 1/√x, computed in float64
	Square               // x²
	Cube                 // x³
	Multiple             // c₀·x
	Clamp                // x, but no less than c₀ and no more than c₁
	ReLU                 // max(x, 0)
	ReLUSquared          // max(x, 0)² (So et al., arXiv:2109.08668)

	// The following functions justify a goroutine for fewer elements.

	Log     // the natural logarithm, computed in float64
	Exp     // eˣ
	Tanh    // the hyperbolic tangent
	Softcap // c₀·tanh(x/c₀)
	Sigmoid // 1/(1 + e^−x)

	// The following functions have slopes, too.

	SiLU       // x/(1 + e^−x)
	GELU       // x·Φ(x), Φ the normal distribution (torch's gelu)
	GELUTanh   // ½x·(1 + tanh(√(2/π)·(x + 0.044715·x³))) (Hendrycks and Gimpel, arXiv:1606.08415)
	LogSigmoid // −log(1 + e^−x)
)

// Settings are the numbers c₀ and c₁ of a function that has some.
type Settings [2]float64

// Apply writes f(x) to y, of one length; y may be x.
func Apply[F Float](f Function, c Settings, y, x []F) {
	fit("apply", len(x), len(y))
	grain := grainFast
	if f >= Log {
		grain = grainSlow
	}
	parallel.Do(applyCall[F]{f, F(c[0]), F(c[1]), y, x}, len(x), grain)
}

type applyCall[F Float] struct {
	f      Function
	c0, c1 F
	y, x   []F
}

func (c applyCall[F]) Do(lo, hi int) {
	y, x := c.y[lo:hi], c.x[lo:hi]
	switch c.f {
	case Abs:
		simd.Abs(y, x)
	case Sign:
		simd.Sign(y, x)
	case Ceil:
		simd.Ceil(y, x)
	case Floor:
		simd.Floor(y, x)
	case Sqrt:
		simd.Sqrt(y, x)
	case Inverse:
		simd.Inverse(y, x)
	case InverseSqrt:
		simd.InverseSqrt(y, x)
	case Square:
		simd.Mul(y, x, x)
	case Cube:
		simd.Cube(y, x)
	case Multiple:
		simd.Scale(y, x, c.c0)
	case Clamp:
		simd.Clamp(y, x, c.c0, c.c1)
	case ReLU:
		simd.ReLU(y, x)
	case ReLUSquared:
		simd.ReLUSquared(y, x)
	case Log:
		simd.Ln(y, x)
	case Exp:
		simd.Exp(y, x)
	case Tanh:
		simd.Tanh(y, x)
	case Softcap:
		simd.Softcap(y, x, c.c0)
	case Sigmoid:
		simd.Sigmoid(y, x)
	case SiLU:
		simd.SiLU(y, x)
	case GELU:
		simd.GELU(y, x)
	case GELUTanh:
		simd.GELUTanh(y, x)
	case LogSigmoid:
		simd.LogSigmoid(y, x)
	}
}

// Slope writes dx = dy⊙f′(x), all of one length, for Abs and the functions from Clamp on. known is y for ReLU, Exp,
// Tanh, Softcap and Sigmoid, and x for the others. dx may be known or dy.
func Slope[F Float](f Function, c Settings, dx, known, dy []F) {
	fit("slope", len(known), len(dy), len(dx))
	grain := grainFast
	if f >= SiLU {
		grain = grainSlow
	}
	parallel.Do(slopeCall[F]{f, F(c[0]), F(c[1]), dx, known, dy}, len(known), grain)
}

type slopeCall[F Float] struct {
	f             Function
	c0, c1        F
	dx, known, dy []F
}

func (c slopeCall[F]) Do(lo, hi int) {
	dx, known, dy := c.dx[lo:hi], c.known[lo:hi], c.dy[lo:hi]
	switch c.f {
	case Abs:
		simd.AbsSlope(dx, known, dy)
	case Log:
		simd.Div(dx, dy, known)
	case Clamp:
		simd.ClampSlope(dx, known, dy, c.c0, c.c1)
	case ReLU:
		simd.ReLUSlope(dx, known, dy)
	case ReLUSquared:
		simd.ReLUSquaredSlope(dx, known, dy)
	case Exp: // dx = dy⊙y
		simd.Mul(dx, known, dy)
	case Tanh:
		simd.TanhBackward(dx, known, dy)
	case Softcap:
		simd.SoftcapSlope(dx, known, dy, c.c0)
	case Sigmoid:
		simd.SigmoidSlope(dx, known, dy)
	case SiLU:
		simd.SiLUSlope(dx, known, dy)
	case GELU:
		simd.GELUBackward(dx, known, dy)
	case GELUTanh:
		simd.GELUTanhBackward(dx, known, dy)
	case LogSigmoid:
		simd.LogSigmoidSlope(dx, known, dy)
	}
}
