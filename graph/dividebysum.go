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
func DivideBySum(x *G.Node) (*G.Node, error) { return applyRows("DivideBySum", x) }

func divideBySum[F kernel.Float](y, x []F, cols int) {
	for lo := 0; lo < len(x); lo += cols {
		from, to := x[lo:lo+cols], y[lo:lo+cols]
		divideRow(to, from, 0, sum(from))
	}
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
