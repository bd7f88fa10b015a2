package kernel

import (
	"math"

	"attention/internal/parallel"
)

// A Function is a function of a number, y = f(x). NaN, infinities and −0 give what they give in package math.
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

	// The functions from here on are worth a goroutine for fewer elements.

	Log     // the natural logarithm, computed in float64
	Exp     // eˣ
	Tanh    // the hyperbolic tangent
	Softcap // c₀·tanh(x/c₀)
	Sigmoid // 1/(1 + e^−x)

	// Of the functions from here on the slopes, too.

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
		abs(y, x)
	case Sign:
		sign(y, x)
	case Ceil:
		ceil(y, x)
	case Floor:
		floor(y, x)
	case Sqrt:
		sqrt(y, x)
	case Inverse:
		inverse(chosenPath, y, x)
	case InverseSqrt:
		inverseSqrt(y, x)
	case Square:
		mul(chosenPath, y, x, x)
	case Cube:
		cube(y, x)
	case Multiple:
		scale(chosenPath, y, x, c.c0)
	case Clamp:
		clamp(y, x, c.c0, c.c1)
	case ReLU:
		relu(y, x)
	case ReLUSquared:
		reluSquared(y, x)
	case Log:
		ln(y, x)
	case Exp:
		exp(chosenPath, y, x)
	case Tanh:
		tanh(chosenPath, y, x)
	case Softcap:
		softcap(y, x, c.c0)
	case Sigmoid:
		sigmoid(y, x)
	case SiLU:
		silu(chosenPath, y, x)
	case GELU:
		gelu(chosenPath, y, x)
	case GELUTanh:
		geluTanh(chosenPath, y, x)
	case LogSigmoid:
		logSigmoid(y, x)
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
		ofTwo(dx, known, dy, func(x, dy F) F {
			if x == 0 || x != x {
				return x * dy
			}
			return F(math.Copysign(1, float64(x))) * dy
		})
	case Log:
		ofTwo(dx, known, dy, func(x, dy F) F { return dy / x })
	case Clamp:
		clampSlope(dx, known, dy, c.c0, c.c1)
	case ReLU:
		reluSlope(dx, known, dy)
	case ReLUSquared:
		ofTwo(dx, known, dy, func(x, dy F) F { return 2 * max(x, 0) * dy })
	case Exp: // dx = dy⊙y
		mul(chosenPath, dx, known, dy)
	case Tanh:
		tanhBackward(chosenPath, dx, known, dy)
	case Softcap:
		softcapSlope(dx, known, dy, c.c0)
	case Sigmoid:
		sigmoidSlope(dx, known, dy)
	case SiLU:
		siluSlope(dx, known, dy)
	case GELU:
		geluBackward(chosenPath, dx, known, dy)
	case GELUTanh:
		geluTanhBackward(chosenPath, dx, known, dy)
	case LogSigmoid:
		logSigmoidSlope(dx, known, dy)
	}
}

// ofOne writes f(x) of each element to y, and ofTwo f(x, y) to z. The compiler inlines f: an element costs no call.
func ofOne[F Float](y, x []F, f func(x F) F) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = f(v)
	}
}

func ofTwo[F Float](z, x, y []F, f func(x, y F) F) {
	z, y = z[:len(x)], y[:len(x)]
	for i, v := range x {
		z[i] = f(v, y[i])
	}
}

func abs[F Float](y, x []F)       { ofOne(y, x, func(x F) F { return F(math.Abs(float64(x))) }) }
func ceil[F Float](y, x []F)      { ofOne(y, x, func(x F) F { return F(math.Ceil(float64(x))) }) }
func floor[F Float](y, x []F)     { ofOne(y, x, func(x F) F { return F(math.Floor(float64(x))) }) }
func sqrt[F Float](y, x []F)      { ofOne(y, x, func(x F) F { return F(math.Sqrt(float64(x))) }) }
func inverseGo[F Float](y, x []F) { ofOne(y, x, func(x F) F { return 1 / x }) }
func inverseSqrt[F Float](y, x []F) {
	ofOne(y, x, func(x F) F { return F(1 / math.Sqrt(float64(x))) })
}
func cube[F Float](y, x []F) { ofOne(y, x, func(x F) F { return x * x * x }) }

// sign leaves 0, −0 and NaN as they are.
func sign[F Float](y, x []F) {
	y = y[:len(x)]
	for i, v := range x {
		sign := oneWhere[F](v > 0) - oneWhere[F](v < 0)
		if sign == 0 {
			sign = v
		}
		y[i] = sign
	}
}

// ln scales numbers that are not normal: math.Log is wrong for them on amd64.
func ln[F Float](y, x []F) {
	y = y[:len(x)]
	for i, v := range x {
		if x := float64(v); x > 0 && x < 0x1p-1022 {
			y[i] = F(math.Log(x*0x1p52) - 52*math.Ln2)
		} else {
			y[i] = F(math.Log(x))
		}
	}
}
