package kernel

import "math"

// A Function is one of a number. What it is of NaN, of infinities and of −0 is what it is in package math.
type Function int

const (
	Abs         Function = iota
	Sign                 // 1 with the sign of x: 1 for 0, −1 for −0
	Ceil                 // the least integer ≥ x
	Floor                // the greatest integer ≤ x
	Sqrt                 // √x
	Inverse              // 1/x
	InverseSqrt          // 1/√x
	Cube                 // x³
	Log                  // the natural logarithm
)

// Apply writes f(x) to y, of one length; y may be x. InverseSqrt and Log are computed in float64.
func Apply[F Float](f Function, y, x []F) {
	fit("apply", len(x), len(y))
	grain := grainFast
	if f == Log {
		grain = grainSlow
	}
	split(applyCall[F]{f, y, x}, len(x), grain)
}

type applyCall[F Float] struct {
	f    Function
	y, x []F
}

func (c applyCall[F]) do(lo, hi int) {
	y, x := c.y[lo:hi], c.x[lo:hi]
	switch c.f {
	case Abs:
		abs(chosenPath, y, x)
	case Sign:
		sign(chosenPath, y, x)
	case Ceil:
		ceil(chosenPath, y, x)
	case Floor:
		floor(chosenPath, y, x)
	case Sqrt:
		sqrt(chosenPath, y, x)
	case Inverse:
		inverse(chosenPath, y, x)
	case InverseSqrt:
		inverseSqrt(chosenPath, y, x)
	case Cube:
		cube(chosenPath, y, x)
	case Log:
		ln(chosenPath, y, x)
	}
}

func absGo[F Float](y, x []F) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = F(math.Abs(float64(v)))
	}
}

func signGo[F Float](y, x []F) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = F(math.Copysign(1, float64(v)))
	}
}

func ceilGo[F Float](y, x []F) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = F(math.Ceil(float64(v)))
	}
}

func floorGo[F Float](y, x []F) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = F(math.Floor(float64(v)))
	}
}

func sqrtGo[F Float](y, x []F) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = F(math.Sqrt(float64(v)))
	}
}

func inverseGo[F Float](y, x []F) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = 1 / v
	}
}

func inverseSqrtGo[F Float](y, x []F) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = F(1 / math.Sqrt(float64(v)))
	}
}

func cubeGo[F Float](y, x []F) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = v * v * v
	}
}

// lnGo takes numbers that are not normal apart, of which math.Log is wrong on amd64.
func lnGo[F Float](y, x []F) {
	y = y[:len(x)]
	for i, v := range x {
		if x := float64(v); x > 0 && x < 0x1p-1022 {
			y[i] = F(math.Log(x*0x1p52) - 52*math.Ln2)
		} else {
			y[i] = F(math.Log(x))
		}
	}
}
