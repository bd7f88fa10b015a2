package kernel

// chunk is how many elements functions of several passes take at a time: few enough to stay in the first cache.
const chunk = 1 << 10

// chunks calls f for runs of at most chunk elements that together cover [0,n).
func chunks(n int, f func(lo, hi int)) {
	for lo := 0; lo < n; lo += chunk {
		f(lo, min(lo+chunk, n))
	}
}

// expOfNegative is e^−x, 0 or ∞ far from 0.
func expOfNegative[F Float](p path, y, x []F) {
	scaleRun(p, y, x, -1)
	expRun(p, y, y)
}

// Sigmoid writes 1/(1 + e^−x) to y, of one length; y may be x.
func Sigmoid[F Float](y, x []F) {
	fit("sigmoid", len(x), len(y))
	vectorTask[F]{kind: taskSigmoid, a: y, b: x}.start(len(x), grainSlow)
}

func sigmoidRun[F Float](p path, y, x []F) {
	chunks(len(x), func(lo, hi int) {
		y := y[lo:hi]
		expOfNegative(p, y, x[lo:hi])
		for i, e := range y {
			y[i] = 1 / (1 + e)
		}
	})
}

// SigmoidBackward writes dx = dy⊙y⊙(1 − y) for y = Sigmoid(x). dx may be y or dy.
func SigmoidBackward[F Float](dx, y, dy []F) {
	fit("sigmoid backward", len(y), len(dy), len(dx))
	vectorTask[F]{kind: taskSigmoidBackward, a: dx, b: y, c: dy}.start(len(y), grainFast)
}

func sigmoidBackwardRun[F Float](dx, y, dy []F) {
	dx, dy = dx[:len(y)], dy[:len(y)]
	for i, v := range y {
		dx[i] = dy[i] * (1 - v) * v
	}
}

// SiLU writes x/(1 + e^−x) to y, of one length; y may be x.
func SiLU[F Float](y, x []F) {
	fit("silu", len(x), len(y))
	vectorTask[F]{kind: taskSiLU, a: y, b: x}.start(len(x), grainSlow)
}

func siluRun[F Float](p path, y, x []F) {
	var room [chunk]F
	chunks(len(x), func(lo, hi int) {
		e, y, x := room[:hi-lo], y[lo:hi], x[lo:hi]
		expOfNegative(p, e, x)
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
	vectorTask[F]{kind: taskSiLUBackward, a: dx, b: x, c: dy}.start(len(x), grainSlow)
}

func siluBackwardRun[F Float](p path, dx, x, dy []F) {
	var room [chunk]F
	chunks(len(x), func(lo, hi int) {
		e, dx, x, dy := room[:hi-lo], dx[lo:hi], x[lo:hi], dy[lo:hi]
		expOfNegative(p, e, x)
		for i, e := range e {
			dx[i] = dy[i] * siluSlope(x[i], 1/(1+e))
		}
	})
}

func siluSlope[F Float](x, s F) F { return s * (1 + x*(1-s)) }

// SwiGLU writes SiLU(gate)⊙up to y, all of one length; y may be gate or up (Shazeer, arXiv:2002.05202).
func SwiGLU[F Float](y, gate, up []F) {
	fit("swiglu", len(gate), len(up), len(y))
	vectorTask[F]{kind: taskSwiGLU, a: y, b: gate, c: up}.start(len(gate), grainSlow)
}

func swiGLURun[F Float](p path, y, gate, up []F) {
	var room [chunk]F
	chunks(len(gate), func(lo, hi int) {
		e, y, gate, up := room[:hi-lo], y[lo:hi], gate[lo:hi], up[lo:hi]
		expOfNegative(p, e, gate)
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
	vectorTask[F]{kind: taskSwiGLUBackward, a: dgate, b: dup, c: gate, d: up, e: dy}.start(len(gate), grainSlow)
}

func swiGLUBackwardRun[F Float](p path, dgate, dup, gate, up, dy []F) {
	var room [chunk]F
	chunks(len(gate), func(lo, hi int) {
		e, dgate, dup, gate, up, dy := room[:hi-lo], dgate[lo:hi], dup[lo:hi], gate[lo:hi], up[lo:hi], dy[lo:hi]
		expOfNegative(p, e, gate)
		for i, e := range e {
			x, s, d := gate[i], 1/(1+e), dy[i]
			dgate[i], dup[i] = d*up[i]*siluSlope(x, s), d*(x*s)
		}
	})
}
