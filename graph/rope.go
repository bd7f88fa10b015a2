package graph

import (
	"fmt"
	"math"

	"attention/internal/dense"
	"attention/internal/kernel"
	"attention/internal/parallel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// RoPE returns x after the rotary position embedding (Su et al. 2021, equation 34): pair i
// of each head of the row at position p is turned by the angle
//
//	p·Base^(−2i/Dims),  i = 0 … Dims/2−1
//
// so that the score of a rotated query and a rotated key depends on the distance of their positions alone. c.Scaling
// changes the angles. The angles are computed in float64 whatever the type of x.
//
// x is (…, T, H·D) with H=c.Heads, and so is the result. positions are integers, which may be negative: () is the
// position of the first row, from which the others count on; (T) are the positions of all rows, (…, T) those of the
// rows of each batch; nil means 0 … T−1.
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
	r := rotation{RoPEConfig: c.resolve(d)}
	return applyTyped(rope[float32]{rotation: r}, rope[float64]{rotation: r}, x, positions)
}

// rotation is a resolved RoPEConfig.
type rotation struct {
	RoPEConfig
	Back bool // turns by the opposite angles
}

// rope turns the pairs of each head. It is an op because no other op computes angles from positions, in float64.
type rope[F kernel.Float] struct {
	rotation
}

func (rope[F]) spec() spec { return spec{name: "RoPE", args: placedArgs, inPlace: first} }

func (rope[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	return in[0].Clone(), checkPositions("RoPE", in)
}

func (o rope[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	x, y, width := dense.Floats[F](in[0]), dense.Floats[F](out), last(in[0].Shape())
	p, frequency := placesOf(in[0].Shape(), in), o.frequencies()
	var table []F // angles of positions that several rows share
	first, n := p.repeated()
	if n > 0 {
		table = make([]F, n*o.Dims)
		parallel.For(n, p.grain(width), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				setAngles(o.rotation, frequency, float64(first+int64(i)), table[i*o.Dims:][:o.Dims])
			}
		})
	}
	parallel.For(p.own, p.grain(width), func(lo, hi int) {
		room := make([]F, o.Dims)
		for own := lo; own < hi; own++ {
			angles := room
			if n > 0 {
				angles = table[int(p.given[own]-first)*o.Dims:][:o.Dims]
			} else {
				setAngles(o.rotation, frequency, p.at(own), angles)
			}
			for row := own; row < p.rows; row += p.own {
				turnHeads(o.rotation, y[row*width:][:width], x[row*width:][:width], angles[:o.Dims/2],
					angles[o.Dims/2:])
			}
		}
	})
	return nil
}

// setAngles sets the cosines and then the sines of the angles at a position, times a factor that the scaling may have.
func setAngles[F kernel.Float](r rotation, frequency []float64, position float64, angles []F) {
	length := 1.0
	switch r.Scaling {
	case LinearScaling:
		position /= r.Factor
	case YaRNScaling:
		length = r.AttentionFactor
	}
	if r.Back {
		position = -position
	}
	cos, sin := angles[:len(frequency)], angles[len(frequency):]
	for i, f := range frequency {
		s, c := math.Sincos(position * f)
		sin[i], cos[i] = F(length*s), F(length*c)
	}
}

// turnHeads turns the pairs of every head of one row of x; y may be x.
func turnHeads[F kernel.Float](r rotation, y, x, cos, sin []F) {
	half, d := len(cos), len(x)/r.Heads
	begin, others := 0, r.Dims // of the turned elements, and of the others
	if r.AtEnd {
		begin, others = d-r.Dims, 0
	}
	if r.Dims < d {
		for lo := 0; lo < len(x); lo += d {
			copy(y[lo+others:][:d-r.Dims], x[lo+others:])
		}
	}
	if !r.Interleaved {
		kernel.Turn(r.Heads, d, y[begin:], y[begin+half:], x[begin:], x[begin+half:], cos, sin)
		return
	}
	for lo := begin; lo < len(x); lo += d {
		turnNeighbours(y[lo:][:r.Dims], x[lo:][:r.Dims], cos, sin)
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

// y = x turned by θ, times a factor:  dx = dy turned by −θ, times the factor.
func (o rope[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	o.Back = !o.Back
	return only(apply(o, append(G.Nodes{dy}, in[1:]...)...))
}
