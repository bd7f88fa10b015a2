package graph

import (
	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// DivideBySum returns x/Σx over the last axis: the plainest way to weights that sum to
// one, and to renormalise weights after some were multiplied by zero. A row that sums to
// zero gives zeros and passes no gradient. (torch.nn.functional.normalize divides by the
// square root of Σx² instead: see L2Norm.)
func DivideBySum(x *G.Node) (*G.Node, error) {
	return applyTyped(divideBySum[float32]{}, divideBySum[float64]{}, x)
}

type divideBySum[F kernel.Float] struct{ intoFirst }

func (divideBySum[F]) spec() (string, []arg) { return "DivideBySum", named("x") }

func (divideBySum[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	if in[0].Dims() == 0 {
		return nil, &ShapeError{"DivideBySum", "x", in[0], "(…, S)"}
	}
	return in[0].Clone(), nil
}

func (divideBySum[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	cols, x, y := last(in[0].Shape()), dense.Floats[F](in[0]), dense.Floats[F](out)
	for lo := 0; lo < len(x); lo += cols {
		from, to := x[lo:lo+cols], y[lo:lo+cols]
		divideRow(to, from, 0, sum(from))
	}
	return nil
}

// divideRow writes (x − c)/s to y, which may be x, and 0 for a row that sums to s = 0.
func divideRow[F kernel.Float](y, x []F, c, s F) {
	if s == 0 {
		clear(y)
		return
	}
	y = y[:len(x)]
	for i, v := range x {
		y[i] = (v - c) / s
	}
}

func sum[F kernel.Float](x []F) F {
	var s F
	for _, v := range x {
		s += v
	}
	return s
}

// y = x/s, s = Σx:  dx = (dy − Σ dy⊙y)/s.
func (divideBySum[F]) backward(in G.Nodes, y, dy *G.Node) (G.Nodes, error) {
	return only(apply(divideBySumBackward[F]{}, in[0], y, dy))
}

type divideBySumBackward[F kernel.Float] struct {
	sameShape
	isGradient
}

func (divideBySumBackward[F]) spec() (string, []arg) {
	return "DivideBySumBackward", named("x", "y", "dy")
}

func (divideBySumBackward[F]) inPlace() []int { return []int{2} }

func (divideBySumBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	cols := last(in[0].Shape())
	x, y, dy, dx := dense.Floats[F](in[0]), dense.Floats[F](in[1]), dense.Floats[F](in[2]), dense.Floats[F](out)
	for lo := 0; lo < len(x); lo += cols {
		var dot F
		for i := lo; i < lo+cols; i++ {
			dot += dy[i] * y[i]
		}
		divideRow(dx[lo:lo+cols], dy[lo:lo+cols], dot, sum(x[lo:lo+cols]))
	}
	return nil
}
