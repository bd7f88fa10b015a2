package graph

import (
	"math"

	"attention/internal/dense"
	"attention/internal/kernel"
	"attention/internal/parallel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// AddSinusoidal returns x plus the sinusoidal position encoding (Vaswani et al. 2017,
// section 3.5): to the row at position p it adds
//
//	sin(p·10000^(−2i/E)) in element 2i,  cos(p·10000^(−2i/E)) in element 2i+1
//
// x is (…, T, E) with an even E, and so is the result. positions are as in RoPE: () for the first row, (T) for all
// rows, (…, T) for the rows of each batch, or nil for 0 … T−1.
func AddSinusoidal(x, positions *G.Node) (*G.Node, error) {
	return applyTyped(addSinusoidal[float32]{}, addSinusoidal[float64]{}, x, positions)
}

// addSinusoidal adds the waves of each row. It is an op because no other op computes sines.
type addSinusoidal[F kernel.Float] struct{}

func (addSinusoidal[F]) spec() spec {
	return spec{name: "AddSinusoidal", args: placedArgs, inPlace: first}
}

func (addSinusoidal[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	if x := in[0]; x.Dims() < 2 || last(x)%2 != 0 {
		return nil, &ShapeError{"AddSinusoidal", "x", x, "(…, T, E) with an even E"}
	}
	return in[0].Clone(), checkPositions("AddSinusoidal", in)
}

func (addSinusoidal[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	x, y, width := dense.Floats[F](in[0]), dense.Floats[F](out), last(in[0].Shape())
	p, frequency := placesOf(in[0].Shape(), in), frequencies(10000, width)
	parallel.For(p.own, p.grain(width), func(lo, hi int) {
		waves := make([]F, width)
		for own := lo; own < hi; own++ {
			at := p.at(own)
			for i, f := range frequency {
				sin, cos := math.Sincos(at * f)
				waves[2*i], waves[2*i+1] = F(sin), F(cos)
			}
			for row := own; row < p.rows; row += p.own {
				xr, yr := x[row*width:][:width], y[row*width:][:width]
				for i, w := range waves {
					yr[i] = xr[i] + w
				}
			}
		}
	})
	return nil
}

// y = x + waves:  dx = dy.
func (addSinusoidal[F]) backward(_ G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	return G.Nodes{dy}, nil
}
