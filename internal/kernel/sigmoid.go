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

// Sigmoid writes 1/(1 + e^−x) to y, of one length; y may be x.
func Sigmoid[F Float](y, x []F) {
	fit("sigmoid", len(x), len(y))
	split(sigmoidCall[F]{y, x}, len(x), grainSlow)
}

type sigmoidCall[F Float] struct{ y, x []F }

func (c sigmoidCall[F]) do(lo, hi int) {
	chunks(lo, hi, func(lo, hi int) {
		y := c.y[lo:hi]
		expOfNegative(y, c.x[lo:hi])
		for i, e := range y {
			y[i] = 1 / (1 + e)
		}
	})
}

// SigmoidBackward writes dx = dy⊙y⊙(1 − y) for y = Sigmoid(x). dx may be y or dy.
func SigmoidBackward[F Float](dx, y, dy []F) {
	fit("sigmoid backward", len(y), len(dy), len(dx))
	split(sigmoidBackwardCall[F]{dx, y, dy}, len(y), grainFast)
}

type sigmoidBackwardCall[F Float] struct{ dx, y, dy []F }

func (c sigmoidBackwardCall[F]) do(lo, hi int) {
	y := c.y[lo:hi]
	dx, dy := c.dx[lo:hi][:len(y)], c.dy[lo:hi][:len(y)]
	for i, v := range y {
		dx[i] = dy[i] * (1 - v) * v
	}
}

// SiLU writes x/(1 + e^−x) to y, of one length; y may be x.
func SiLU[F Float](y, x []F) {
	fit("silu", len(x), len(y))
	split(siluCall[F]{y, x}, len(x), grainSlow)
}

type siluCall[F Float] struct{ y, x []F }

func (c siluCall[F]) do(lo, hi int) {
	var room [chunk]F
	chunks(lo, hi, func(lo, hi int) {
		e, y, x := room[:hi-lo], c.y[lo:hi], c.x[lo:hi]
		expOfNegative(e, x)
		for i, e := range e {
			y[i] = x[i] / (1 + e)
		}
	})
}

// SiLUBackward writes dx = dy⊙SiLU′(x). dx may be x or dy.
//
//	y = x·s, s = 1/(1 + e^−x):  dy/dx = s + x·s·(1−s)
func SiLUBackward[F Float](dx, x, dy []F) {
	fit("silu backward", len(x), len(dy), len(dx))
	split(siluBackwardCall[F]{dx, x, dy}, len(x), grainSlow)
}

type siluBackwardCall[F Float] struct{ dx, x, dy []F }

func (c siluBackwardCall[F]) do(lo, hi int) {
	var room [chunk]F
	chunks(lo, hi, func(lo, hi int) {
		e, dx, x, dy := room[:hi-lo], c.dx[lo:hi], c.x[lo:hi], c.dy[lo:hi]
		expOfNegative(e, x)
		for i, e := range e {
			dx[i] = dy[i] * siluSlope(x[i], 1/(1+e))
		}
	})
}

func siluSlope[F Float](x, s F) F { return s * (1 + x*(1-s)) }

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
			dgate[i], dup[i] = d*up[i]*siluSlope(x, s), d*(x*s)
		}
	})
}
