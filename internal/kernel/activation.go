package kernel

import "math"

// Tanh writes the hyperbolic tangent of x to y, of one length; y may be x. A result is within 3 units in the
// last place.
func Tanh[F Float](y, x []F) {
	fit("tanh", len(x), len(y))
	split(tanhCall[F]{y, x}, len(x), grainSlow)
}

type tanhCall[F Float] struct{ y, x []F }

func (c tanhCall[F]) do(lo, hi int) { tanh(chosenPath, c.y[lo:hi], c.x[lo:hi]) }

func tanhGo[F Float](y, x []F) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = F(math.Tanh(float64(v)))
	}
}

// TanhBackward writes dx = dy⊙(1 − y²) for y = tanh x. dx may be y or dy.
func TanhBackward[F Float](dx, y, dy []F) {
	fit("tanh backward", len(y), len(dy), len(dx))
	split(tanhBackwardCall[F]{dx, y, dy}, len(y), grainFast)
}

type tanhBackwardCall[F Float] struct{ dx, y, dy []F }

func (c tanhBackwardCall[F]) do(lo, hi int) {
	tanhBackward(chosenPath, c.dx[lo:hi], c.y[lo:hi], c.dy[lo:hi])
}

func tanhBackwardGo[F Float](dx, y, dy []F) {
	dx, dy = dx[:len(y)], dy[:len(y)]
	for i, v := range y {
		dx[i] = dy[i] * (1 - F(v*v)) // rounded, even on processors that can fuse the two operations
	}
}

// Softcap writes limit·tanh(x/limit) to y, of one length; y may be x.
func Softcap[F Float](y, x []F, limit float64) {
	fit("softcap", len(x), len(y))
	split(softcapCall[F]{y, x, F(limit)}, len(x), grainSlow)
}

type softcapCall[F Float] struct {
	y, x  []F
	limit F
}

func (c softcapCall[F]) do(lo, hi int) {
	chunks(lo, hi, func(lo, hi int) {
		y := c.y[lo:hi]
		scale(chosenPath, y, c.x[lo:hi], 1/c.limit)
		tanh(chosenPath, y, y)
		scale(chosenPath, y, y, c.limit)
	})
}

// SoftcapBackward writes dx = dy⊙(1 − (y/limit)²) for y = Softcap(x). dx may be y or dy.
func SoftcapBackward[F Float](dx, y, dy []F, limit float64) {
	fit("softcap backward", len(y), len(dy), len(dx))
	split(softcapBackwardCall[F]{dx, y, dy, F(limit)}, len(y), grainFast)
}

type softcapBackwardCall[F Float] struct {
	dx, y, dy []F
	limit     F
}

func (c softcapBackwardCall[F]) do(lo, hi int) {
	y := c.y[lo:hi]
	dx, dy := c.dx[lo:hi][:len(y)], c.dy[lo:hi][:len(y)]
	inverse := 1 / c.limit
	for i, v := range y {
		v *= inverse
		dx[i] = dy[i] * (1 - F(v*v)) // rounded, even on processors that can fuse the two operations
	}
}
