package graph

import (
	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// AverageHeads returns the mean over the heads of attention weights (…, H, T, S), as
// (…, T, S) (torch's average_attn_weights).
func AverageHeads(weights *G.Node) (*G.Node, error) {
	return applyTyped(averageHeads[float32]{}, averageHeads[float64]{}, weights)
}

type averageHeads[F kernel.Float] struct{}

func (averageHeads[F]) spec() (string, []arg) { return "AverageHeads", named("weights") }

func (averageHeads[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	n := in[0].Dims()
	if n < 3 {
		return nil, &ShapeError{"AverageHeads", "weights", in[0], "(…, H, T, S)"}
	}
	return append(in[0][:n-3].Clone(), in[0][n-2:]...), nil
}

func (averageHeads[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	x, y := dense.Floats[F](in[0]), dense.Floats[F](out)
	forHeads(in[0].Shape(), func(heads, lo, hi, at, size int) {
		mean := y[lo:hi]
		copy(mean, x[at:])
		for h := 1; h < heads; h++ {
			for i, v := range x[at+h*size:][:len(mean)] {
				mean[i] += v
			}
		}
		for i := range mean {
			mean[i] /= F(heads)
		}
	})
	return nil
}

// forHeads calls f for runs of rows of the mean of weights (…, H, T, S): the run
// [lo, hi) is the mean of hi−lo elements of each head; the first head's begin at at,
// those of the next head size further.
func forHeads(weights tensor.Shape, f func(heads, lo, hi, at, size int)) {
	n := len(weights)
	heads, t, s := weights[n-3], weights[n-2], weights[n-1]
	kernel.Parallel(weights.TotalSize()/heads/s, copyGrain(heads*s), func(lo, hi int) {
		for lo < hi {
			end := min(hi, (lo/t+1)*t) // of this head, or of the run
			f(heads, lo*s, end*s, (lo/t*heads*t+lo%t)*s, t*s)
			lo = end
		}
	})
}

// y = Σ x[h]/H:  dx[h] = dy/H.
func (averageHeads[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	return only(apply(averageHeadsBackward[F]{outShape: outShape{in[0].Shape()}}, dy))
}

type averageHeadsBackward[F kernel.Float] struct {
	isGradient
	outShape
}

func (averageHeadsBackward[F]) spec() (string, []arg) {
	return "AverageHeadsBackward", named("dy")
}

func (o averageHeadsBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	dx, dy := dense.Floats[F](out), dense.Floats[F](in[0])
	forHeads(o.Out, func(heads, lo, hi, at, size int) {
		for h := range heads {
			d := dx[at+h*size:][:hi-lo]
			for i, v := range dy[lo:hi] {
				d[i] = v / F(heads)
			}
		}
	})
	return nil
}
