package graph

import (
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// DivideBySum returns x/Σx over the last axis: the plainest way to weights that sum to
// one, and to renormalise weights after some were multiplied by zero. A row that sums to
// zero gives zeros and passes no gradient. (torch.nn.functional.normalize divides by the
// square root of Σx² instead: see L2Norm.)
func DivideBySum(x *G.Node) (*G.Node, error) {
	in, err := checked("DivideBySum", named("x"), x)
	if err != nil {
		return nil, err
	}
	if s := in[0].Shape(); s.Dims() == 0 {
		return nil, &ShapeError{"DivideBySum", "x", s, "(…, S)"}
	}
	var f expr.Formula
	sum := f.Of(Sum(in[0], ReduceConfig{Dim: []int{-1}, KeepDim: true})) // (…, 1)
	divisor := f.Of(Where(sum, sum, constant(in[0], 1)))
	return f.Result(f.Of(whereNotZero(sum, f.Of(Div(in[0], divisor)))))
}
