package kernel

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
		for i, e := range y {
			y[i] = 1 / (1 + e)
		}
	})
}

// y = sigmoid(x):  dx = dy⊙y⊙(1 − y).
func sigmoidSlope[F Float](dx, y, dy []F) {
	ofTwo(dx, y, dy, func(y, dy F) F { return dy * (1 - y) * y })
}

func silu[F Float](y, x []F) {
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

// SwiGLU writes SiLU(gate)⊙up to y, all of one length; y may be gate or up (Shazeer, arXiv:2002.05202).
func SwiGLU[F Float](y, gate, up []F) {
	fit("swiglu", len(gate), len(up), len(y))
	split(swiGLUCall[F]{y, gate, up}, len(gate), grainSlow)
}

type swiGLUCall[F Float] struct{ y, gate, up []F }

func (c swiGLUCall[F]) do(lo, hi int) {
	var room [chunk]F
	chunks(lo, hi, func(lo, hi int) {
		e, y, gate, up := room[:hi-lo], c.y[lo:hi], c.gate[lo:hi], c.up[lo:hi]
		expOfNegative(e, gate)
		for i, e := range e {
			y[i] = gate[i] / (1 + e) * up[i]
		}
	})
}

// SwiGLUBackward writes the gradients of SwiGLU for the gradient dy of y. dgate and dup may be any of the others.
//
//	dgate = dy⊙up⊙SiLU′(gate), dup = dy⊙SiLU(gate)
func SwiGLUBackward[F Float](dgate, dup, gate, up, dy []F) {
	fit("swiglu backward", len(gate), len(up), len(dy), len(dgate), len(dup))
	split(swiGLUBackwardCall[F]{dgate, dup, gate, up, dy}, len(gate), grainSlow)
}

type swiGLUBackwardCall[F Float] struct{ dgate, dup, gate, up, dy []F }

func (c swiGLUBackwardCall[F]) do(lo, hi int) {
	var room [chunk]F
	chunks(lo, hi, func(lo, hi int) {
		e, dgate, dup := room[:hi-lo], c.dgate[lo:hi], c.dup[lo:hi]
		gate, up, dy := c.gate[lo:hi], c.up[lo:hi], c.dy[lo:hi]
		expOfNegative(e, gate)
		for i, e := range e {
			x, s, d := gate[i], 1/(1+e), dy[i]
			dgate[i], dup[i] = d*up[i]*siluSlopeAt(x, s), d*(x*s)
		}
	})
}
