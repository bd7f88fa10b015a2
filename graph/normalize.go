package graph

import (
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Normalize is x/Σx over the last axis: the plainest way to weights that sum to
// one, and what renormalises weights after some were multiplied by zero. A row
// that sums to zero gives zeros and passes no gradient.
func Normalize(x *G.Node) (*G.Node, error) { return apply(normalize{}, x) }

type normalize struct{}

func (normalize) spec() (string, []arg) { return "Normalize", []arg{{name: "x"}} }

func (normalize) inPlace() int { return 0 }

func (normalize) shape(in []tensor.Shape) (tensor.Shape, error) {
	if in[0].Dims() == 0 {
		return nil, &ShapeError{"Normalize", "x", in[0], "(…, S)"}
	}
	return in[0].Clone(), nil
}

func (normalize) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, normalizeForward[float32], normalizeForward[float64])(out, in)
}

func normalizeForward[F kernel.Float](out *tensor.Dense, in []*tensor.Dense) error {
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
func (normalize) backward(in G.Nodes, y, dy *G.Node) (G.Nodes, error) {
	dx, err := apply(normalizeBackward{}, in[0], y, dy)
	return G.Nodes{dx}, err
}

type normalizeBackward struct{}

func (normalizeBackward) spec() (string, []arg) {
	return "NormalizeBackward", []arg{{name: "x"}, {name: "y"}, {name: "dy"}}
}

func (normalizeBackward) inPlace() int { return 2 }

func (normalizeBackward) shape(in []tensor.Shape) (tensor.Shape, error) { return in[0].Clone(), nil }

func (normalizeBackward) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, normalizeBackwardForward[float32], normalizeBackwardForward[float64])(out, in)
}

func normalizeBackwardForward[F kernel.Float](out *tensor.Dense, in []*tensor.Dense) error {
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

func (o normalizeBackward) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return noSecond(o) }
