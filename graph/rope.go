package graph

import (
	"fmt"
	"math"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// RoPE returns x after the rotary position embedding (Su et al. 2021, equation 34): pair i
// of each head of the row at position p is turned by the angle
//
//	p·Base^(−2i/Dims),  i = 0 … Dims/2−1
//
// so that the score of a rotated query and a rotated key depends on the distance of
// their positions alone. c.Scaling changes the angles. They are computed in float64 whatever
// the type of x.
//
// x is (…, T, H·D) with H=c.Heads, and so is the result. positions are integers, maybe
// negative: () is the position of the first row, from which the others count on; (T) are
// those of the rows, (…, T) those of each batch; nil means 0 … T−1.
func RoPE(x, positions *G.Node, c RoPEConfig) (*G.Node, error) {
	if err := checkArgs("RoPE", named("x"), G.Nodes{x}); err != nil {
		return nil, err
	}
	heads := max(c.Heads, 1)
	if s := x.Shape(); len(s) < 2 || last(s)%heads != 0 {
		return nil, &ShapeError{"RoPE", "x", s, fmt.Sprintf("(…, T, H·D) with H=%d", heads)}
	}
	d := last(x.Shape()) / heads
	if err := c.Validate(d); err != nil {
		return nil, err
	}
	r, in := rotation{RoPEConfig: c.resolve(d)}, G.Nodes{x}
	if r.Placed = positions != nil; r.Placed {
		in = append(in, positions)
	}
	return applyTyped(rope[float32]{rotation: r}, rope[float64]{rotation: r}, in...)
}

// rotation is a resolved RoPEConfig.
type rotation struct {
	RoPEConfig
	Back   bool // turns by the opposite angles
	Placed bool // has positions as an input
}

type rope[F kernel.Float] struct {
	intoFirst
	rotation
}

func (o rope[F]) spec() (string, []arg) { return "RoPE", placedArgs(o.Placed) }

func (rope[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	return in[0].Clone(), checkPositions("RoPE", in)
}

func (o rope[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	x, y, width := dense.Floats[F](in[0]), dense.Floats[F](out), last(in[0].Shape())
	p, frequency := placesOf(in[0].Shape(), in), o.frequencies()
	direction, divisor, length := 1.0, 1.0, 1.0
	if o.Back {
		direction = -1
	}
	switch o.Scaling {
	case LinearScaling:
		divisor = o.Factor
	case YaRNScaling:
		length = o.AttentionFactor
	}
	kernel.Parallel(p.own, p.grain(width), func(lo, hi int) {
		angles := make([]F, o.Dims)
		cos, sin := angles[:o.Dims/2], angles[o.Dims/2:]
		for own := lo; own < hi; own++ {
			at := direction * p.at(own) / divisor
			for i, f := range frequency {
				s, c := math.Sincos(at * f)
				sin[i], cos[i] = F(length*s), F(length*c)
			}
			for row := own; row < p.rows; row += p.own {
				turnHeads(o.rotation, y[row*width:][:width], x[row*width:][:width], cos, sin)
			}
		}
	})
	return nil
}

// turnHeads turns the pairs of every head of one row of x; y may be x.
func turnHeads[F kernel.Float](r rotation, y, x, cos, sin []F) {
	half, d := len(cos), len(x)/r.Heads
	begin, others := 0, r.Dims // of the elements that are turned, and of those that are not
	if r.AtEnd {
		begin, others = d-r.Dims, 0
	}
	for lo := 0; lo < len(x); lo += d {
		copy(y[lo+others:][:d-r.Dims], x[lo+others:])
		xh, yh := x[lo+begin:][:r.Dims], y[lo+begin:][:r.Dims]
		if r.Interleaved {
			turnNeighbours(yh, xh, cos, sin)
			continue
		}
		turnHalves(yh[:half], yh[half:], xh[:half], xh[half:], cos, sin)
	}
}

// turnNeighbours turns the pairs (2i, 2i+1).
func turnNeighbours[F kernel.Float](y, x, cos, sin []F) {
	y, sin = y[:len(x)], sin[:len(cos)]
	for i, c := range cos {
		s, a, b := sin[i], x[2*i], x[2*i+1]
		y[2*i], y[2*i+1] = a*c-b*s, b*c+a*s
	}
}

// turnHalves turns the pairs of a first half (xa) and a second half (xb) of a head.
func turnHalves[F kernel.Float](ya, yb, xa, xb, cos, sin []F) {
	n := len(cos)
	ya, yb, xa, xb, sin = ya[:n], yb[:n], xa[:n], xb[:n], sin[:n]
	for i, c := range cos {
		s, a, b := sin[i], xa[i], xb[i]
		ya[i], yb[i] = a*c-b*s, b*c+a*s
	}
}

// y = x turned by θ, times a factor:  dx = dy turned by −θ, times the factor.
func (o rope[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	o.Back = !o.Back
	return only(apply(o, append(G.Nodes{dy}, in[1:]...)...))
}
