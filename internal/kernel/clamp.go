package kernel

// Clamp writes x, but no less than low and no more than high, to y, of one length; y may be x. NaN stays NaN.
func Clamp[F Float](y, x []F, low, high F) {
	fit("clamp", len(x), len(y))
	split(clampCall[F]{y, x, low, high}, len(x), grainFast)
}

type clampCall[F Float] struct {
	y, x      []F
	low, high F
}

func (c clampCall[F]) do(lo, hi int) {
	x := c.x[lo:hi]
	y := c.y[lo:hi][:len(x)]
	for i, v := range x {
		y[i] = min(max(v, c.low), c.high)
	}
}

// ClampBackward writes dx = dy where low ≤ x ≤ high, and 0 elsewhere. dx may be x or dy.
func ClampBackward[F Float](dx, x, dy []F, low, high F) {
	fit("clamp backward", len(x), len(dy), len(dx))
	split(clampBackwardCall[F]{dx, x, dy, low, high}, len(x), grainFast)
}

type clampBackwardCall[F Float] struct {
	dx, x, dy []F
	low, high F
}

func (c clampBackwardCall[F]) do(lo, hi int) {
	x := c.x[lo:hi]
	dx, dy := c.dx[lo:hi][:len(x)], c.dy[lo:hi][:len(x)]
	for i, v := range x {
		d := dy[i]
		if !(v >= c.low && v <= c.high) {
			d = 0
		}
		dx[i] = d
	}
}

// ReLU writes x where it is above 0, and 0 elsewhere, to y, of one length; y may be x. NaN stays NaN.
func ReLU[F Float](y, x []F) {
	fit("relu", len(x), len(y))
	split(reluCall[F]{y, x}, len(x), grainFast)
}

type reluCall[F Float] struct{ y, x []F }

func (c reluCall[F]) do(lo, hi int) {
	x := c.x[lo:hi]
	y := c.y[lo:hi][:len(x)]
	for i, v := range x {
		y[i] = max(v, 0)
	}
}

// ReLUBackward writes dx = dy where y = ReLU(x) is above 0 or NaN, and 0 elsewhere. dx may be y or dy.
func ReLUBackward[F Float](dx, y, dy []F) {
	fit("relu backward", len(y), len(dy), len(dx))
	split(reluBackwardCall[F]{dx, y, dy}, len(y), grainFast)
}

type reluBackwardCall[F Float] struct{ dx, y, dy []F }

func (c reluBackwardCall[F]) do(lo, hi int) {
	y := c.y[lo:hi]
	dx, dy := c.dx[lo:hi][:len(y)], c.dy[lo:hi][:len(y)]
	for i, v := range y {
		d := dy[i]
		if v <= 0 {
			d = 0
		}
		dx[i] = d
	}
}
