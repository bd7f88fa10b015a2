package kernel

import "math"

// chunk is how many elements functions of several passes take at a time: few enough to stay in the first cache.
const chunk = 1 << 10

// chunks calls f for runs of at most chunk elements that together cover [lo,hi).
func chunks(lo, hi int, f func(lo, hi int)) {
	for ; lo < hi; lo += chunk {
		f(lo, min(lo+chunk, hi))
	}
}

// expOfNegative sets y ← e^−x, which is 0 or ∞ far from 0.
func expOfNegative[F Float](y, x []F) {
	scale(chosenPath, y, x, -1)
	exp(chosenPath, y, y)
}

func sigmoid[F Float](y, x []F) {
	chunks(0, len(x), func(lo, hi int) {
		y := y[lo:hi]
		expOfNegative(y, x[lo:hi])
		for i := range y {
			y[i]++
		}
		inverse(chosenPath, y, y)
	})
}

// y = sigmoid(x):  dx = dy⊙y⊙(1 − y).
func sigmoidSlope[F Float](dx, y, dy []F) {
	ofTwo(dx, y, dy, func(y, dy F) F { return dy * (1 - y) * y })
}

func logSigmoid[F Float](y, x []F) {
	ofOne(y, x, func(x F) F {
		y, _ := softplus(-float64(x))
		return F(-y)
	})
}

// y = log sigmoid(x):  dx = dy⊙sigmoid(−x).
func logSigmoidSlope[F Float](dx, x, dy []F) {
	ofTwo(dx, x, dy, func(x, dy F) F {
		_, slope := softplus(-float64(x))
		return dy * F(slope)
	})
}

func siluGo[F Float](y, x []F) {
	var room [chunk]F
	chunks(0, len(x), func(lo, hi int) {
		e, y, x := room[:hi-lo], y[lo:hi], x[lo:hi]
		expOfNegative(e, x)
		for i, e := range e {
			y[i] = x[i] / (1 + e)
		}
	})
}

func siluSlope[F Float](dx, x, dy []F) {
	var room [chunk]F
	chunks(0, len(x), func(lo, hi int) {
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
	var room [chunk]F
	chunks(0, len(gate), func(lo, hi int) {
		e := room[:hi-lo]
		expOfNegative(e, gate[lo:hi])
		dgate, dup, gate, up, dy := dgate[lo:hi], dup[lo:hi], gate[lo:hi], up[lo:hi], dy[lo:hi]
		for i, e := range e {
			x, s, d := gate[i], 1/(1+e), dy[i]
			dgate[i], dup[i] = d*up[i]*siluSlopeAt(x, s), d*(x*s)
		}
	})
}

// softplus returns log(1 + eˣ) and its slope, sigmoid(x).
func softplus(x float64) (y, slope float64) {
	e := math.Exp(-math.Abs(x))
	y, slope = max(x, 0)+math.Log1p(e), 1/(1+e)
	if x < 0 {
		slope = e / (1 + e)
	}
	return y, slope
}
