package simd

import "math"

// chunk is the number of elements that functions of several passes process at a time; they fit into the first cache.
const Chunk = 1 << 10

// Chunks calls f for runs of at most chunk elements that together cover [lo,hi).
func Chunks(lo, hi int, f func(lo, hi int)) {
	for ; lo < hi; lo += Chunk {
		f(lo, min(lo+Chunk, hi))
	}
}

// expOfNegative sets y ← e^−x, which is 0 or ∞ far from 0.
func expOfNegative[F Float](y, x []F) {
	Scale(y, x, -1)
	Exp(y, y)
}

// Sigmoid sets y ← 1/(1 + e^−x).
func Sigmoid[F Float](y, x []F) {
	Chunks(0, len(x), func(lo, hi int) {
		y := y[lo:hi]
		expOfNegative(y, x[lo:hi])
		for i := range y {
			y[i]++
		}
		Inverse(y, y)
	})
}

// y = sigmoid(x):  dx = dy⊙y⊙(1 − y).
func SigmoidSlope[F Float](dx, y, dy []F) {
	ofTwo(dx, y, dy, func(y, dy F) F { return dy * (1 - y) * y })
}

// LogSigmoid sets y ← −log(1 + e^−x).
func LogSigmoid[F Float](y, x []F) {
	var room [Chunk]F
	Chunks(0, len(x), func(lo, hi int) {
		x := x[lo:hi]
		MinusLog1p(y[lo:hi], x, expOfMinusAbs(room[:hi-lo], x))
	})
}

func minusLog1pGo[F Float](y, x, e []F) {
	for i, e := range e[:len(y)] {
		y[i] = F(min(float64(x[i]), 0) - log1p[F](float64(e)))
	}
}

// y = log sigmoid(x):  dx = dy⊙sigmoid(−x).
func LogSigmoidSlope[F Float](dx, x, dy []F) {
	var room [Chunk]F
	Chunks(0, len(x), func(lo, hi int) {
		dx, x, dy := dx[lo:hi], x[lo:hi], dy[lo:hi]
		for i, e := range expOfMinusAbs(room[:hi-lo], x) {
			larger := 1 / (1 + e) // σ(|x|)
			if x[i] < 0 {
				dx[i] = dy[i] * larger
			} else {
				dx[i] = dy[i] * (e * larger)
			}
		}
	})
}

// expOfMinusAbs writes e^−|x| to y and returns it.
func expOfMinusAbs[F Float](y, x []F) []F {
	Scale(y, x, -1)
	Greater(y, x, y)
	expOfNegative(y, y)
	return y
}

// log1p returns log(1 + e) for 0 ≤ e ≤ 1, to 4e-9 for float32: with s = e/(2 + e) it is 2·artanh s, and artanh(s)/s is
// a polynomial in s² with nearly the least greatest relative error.
func log1p[F Float](e float64) float64 {
	if SizeOf[F]() != 4 {
		return math.Log1p(e)
	}
	s := e / (2 + e)
	q := s * s
	return 2 * s * (1.0000000039388734 + q*(0.33333157967541299+q*(0.20012426861695928+
		q*(0.13980709417998538+q*0.14087328628608384))))
}

func siluGo[F Float](y, x []F) {
	var room [Chunk]F
	Chunks(0, len(x), func(lo, hi int) {
		e, y, x := room[:hi-lo], y[lo:hi], x[lo:hi]
		expOfNegative(e, x)
		for i, e := range e {
			y[i] = x[i] / (1 + e)
		}
	})
}

// SiLUSlope is the gradient of SiLU: y = x·s with s = 1/(1 + e^−x), dx = dy⊙(s + x·s·(1−s)).
func SiLUSlope[F Float](dx, x, dy []F) {
	var room [Chunk]F
	Chunks(0, len(x), func(lo, hi int) {
		e, dx, x, dy := room[:hi-lo], dx[lo:hi], x[lo:hi], dy[lo:hi]
		expOfNegative(e, x)
		for i, e := range e {
			dx[i] = dy[i] * siluSlopeAt(x[i], 1/(1+e))
		}
	})
}

// siluSlopeAt returns the slope of y = x·s, s = 1/(1 + e^−x):  dy/dx = s + x·s·(1−s).
func siluSlopeAt[F Float](x, s F) F { return s * (1 + x*(1-s)) }

func gatedSiLUBackwardGo[F Float](dgate, dup, gate, up, dy []F) {
	var room [Chunk]F
	Chunks(0, len(gate), func(lo, hi int) {
		e := room[:hi-lo]
		expOfNegative(e, gate[lo:hi])
		dgate, dup, gate, up, dy := dgate[lo:hi], dup[lo:hi], gate[lo:hi], up[lo:hi], dy[lo:hi]
		for i, e := range e {
			x, s, d := gate[i], 1/(1+e), dy[i]
			dgate[i], dup[i] = d*up[i]*siluSlopeAt(x, s), d*(x*s)
		}
	})
}
