package graph

import (
	"fmt"

	"attention/internal/dense"
	"attention/internal/kernel"
	"attention/internal/parallel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// ExpandRelativeBias returns a relative bias written out, to be added to scores: bias is
// (H, T+S−1), or (1, T+S−1) for all heads the same, and the result (H, T, S) or
// (1, T, S) has
//
//	bias[h, t − s + S−1]
//
// for query t and key s: one number for each distance t − s, the smallest first.
func ExpandRelativeBias(bias *G.Node, T, S int) (*G.Node, error) {
	if err := checkLengths("ExpandRelativeBias", T, S); err != nil {
		return nil, err
	}
	return applyTyped(expandBias[float32]{T, S}, expandBias[float64]{T, S}, bias)
}

// checkLengths checks the numbers of queries and keys.
func checkLengths(op string, T, S int) error {
	if T < 1 || S < 1 {
		return fmt.Errorf("graph: %s: lengths: got T=%d, S=%d, want at least 1", op, T, S)
	}
	return nil
}

type expandBias[F kernel.Float] struct{ T, S int }

func (expandBias[F]) spec() spec { return spec{name: "ExpandRelativeBias", args: named("bias")} }

func (o expandBias[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	if n := o.T + o.S - 1; in[0].Dims() != 2 || in[0][1] != n {
		return nil, &ShapeError{"ExpandRelativeBias", "bias", in[0], fmt.Sprintf("(H, T+S−1=%d)", n)}
	}
	return tensor.Shape{in[0][0], o.T, o.S}, nil
}

func (o expandBias[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	bias, y, n := dense.Floats[F](in[0]), dense.Floats[F](out), o.T+o.S-1
	parallel.For(len(y)/o.S, 1+biasGrain/o.S, func(lo, hi int) {
		for row := lo; row < hi; row++ {
			h, t := row/o.T, row%o.T
			to, from := y[row*o.S:][:o.S], bias[h*n+t:][:o.S] // from the farthest key to the nearest
			for s := range to {
				to[s] = from[len(from)-1-s]
			}
		}
	})
	return nil
}

// biasGrain is the number of elements worth a goroutine.
const biasGrain = 1 << 15

// y[h,t,s] = bias[h, t − s + S−1]:  dbias[h,i] = Σ dy[h,t,s] over the t − s + S−1 = i.
func (o expandBias[F]) backward(_ G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	return only(apply(sumDiagonals[F]{}, dy))
}

// sumDiagonals sums (H, T, S) along t − s, to (H, T+S−1).
type sumDiagonals[F kernel.Float] struct{ isGradient }

func (sumDiagonals[F]) spec() spec { return spec{name: "SumDiagonals", args: named("x")} }

func (sumDiagonals[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	x := in[0]
	return tensor.Shape{x[0], x[1] + x[2] - 1}, nil
}

func (sumDiagonals[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	x, y := dense.Floats[F](in[0]), dense.Floats[F](out)
	t, s, n := in[0].Shape()[1], in[0].Shape()[2], last(out.Shape())
	// A block is a run of diagonals; it reads a run of each row, each diagonal from its first row.
	parallel.For(len(y), 1+biasGrain/min(s, t), func(lo, hi int) {
		clear(y[lo:hi])
		for h := lo / n; h*n < hi; h++ {
			from, to := max(lo-h*n, 0), min(hi-h*n, n)
			for ti := range t {
				a, b := max(from, ti), min(to, ti+s) // the diagonals of this row's elements
				if a >= b {
					continue
				}
				sum := y[h*n+a : h*n+b]
				row := x[(h*t+ti)*s+ti+s-b:][:b-a] // s from ti+S−1−(b−1)
				for i := range sum {
					sum[i] += row[len(row)-1-i]
				}
			}
		}
	})
	return nil
}
