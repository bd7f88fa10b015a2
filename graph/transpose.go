package graph

import (
	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Transpose returns xᵀ (Out, In) of a matrix x (In, Out). It turns a weight that is
// stored by inputs, as GPT-2's are, into one that Linear takes.
func Transpose(x *G.Node) (*G.Node, error) {
	return applyTyped(transpose[float32]{}, transpose[float64]{}, x)
}

type transpose[F kernel.Float] struct{}

func (transpose[F]) spec() (string, []arg) { return "Transpose", named("x") }

func (transpose[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	if in[0].Dims() != 2 {
		return nil, &ShapeError{"Transpose", "x", in[0], "(In, Out)"}
	}
	return tensor.Shape{in[0][1], in[0][0]}, nil
}

func (transpose[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	const tile = 16 // rows and columns: a line or two of the cache each
	x, y := dense.Floats[F](in[0]), dense.Floats[F](out)
	rows, cols := in[0].Shape()[0], in[0].Shape()[1]
	kernel.Parallel((cols+tile-1)/tile, 1+copyGrain(rows)/tile, func(lo, hi int) {
		for from := lo * tile; from < min(hi*tile, cols); from += tile {
			to := min(from+tile, cols)
			for i := range rows {
				for j, v := range x[i*cols+from : i*cols+to] {
					y[(from+j)*rows+i] = v
				}
			}
		}
	})
	return nil
}

// y = xᵀ:  dx = dyᵀ.
func (transpose[F]) backward(_ G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	return only(Transpose(dy))
}
