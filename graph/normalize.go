package graph

import (
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Normalize is x/Σx over the last axis: the plainest way to weights that sum to
// one, and what renormalises weights after some were multiplied by zero. A row
// that sums to zero gives zeros and passes no gradient.
func Normalize(x *G.Node) (*G.Node, error) {
	return applyTyped(normalize[float32]{}, normalize[float64]{}, x)
}

type normalize[F kernel.Float] struct{ intoFirst }

func (normalize[F]) spec() (string, []arg) { return "Normalize", named("x") }

func (normalize[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	if in[0].Dims() == 0 {
		return nil, &ShapeError{"Normalize", "x", in[0], "(…, S)"}
	}
	return in[0].Clone(), nil
}

func (normalize[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	cols, x, y := last(in[0].Shape()), floats[F](in[0]), floats[F](out)
	for lo := 0; lo < len(x); lo += cols {
		row := x[lo : lo+cols]
		s := sum(row)
		for i, v := range row {
			y[lo+i] = divide(v, s)
		}
	}
	return nil
}

// divide is x/s, and 0 for a row that sums to zero.
func divide[F kernel.Float](x, s F) F {
	if s == 0 {
		return 0
	}
	return x / s
}

func sum[F kernel.Float](x []F) F {
	var s F
	for _, v := range x {
		s += v
	}
	return s
}

// y = x/s, s = Σx:  dx = (dy − Σ dy⊙y)/s.
func (normalize[F]) backward(in G.Nodes, y, dy *G.Node) (G.Nodes, error) {
	return only(apply(normalizeBackward[F]{}, in[0], y, dy))
}

type normalizeBackward[F kernel.Float] struct {
	sameShape
	isGradient
}

func (normalizeBackward[F]) spec() (string, []arg) {
	return "NormalizeBackward", named("x", "y", "dy")
}

func (normalizeBackward[F]) inPlace() int { return 2 }

func (normalizeBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	cols := last(in[0].Shape())
	x, y, dy, dx := floats[F](in[0]), floats[F](in[1]), floats[F](in[2]), floats[F](out)
	for lo := 0; lo < len(x); lo += cols {
		s := sum(x[lo : lo+cols])
		var dot F
		for i := lo; i < lo+cols; i++ {
			dot += dy[i] * y[i]
		}
		for i := lo; i < lo+cols; i++ {
			dx[i] = divide(dy[i]-dot, s)
		}
	}
	return nil
}
