package graph

import (
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// AverageHeads is the mean over the heads of attention weights (…, H, T, S), as
// (…, T, S) (torch's average_attn_weights).
func AverageHeads(weights *G.Node) (*G.Node, error) { return apply(averageHeads{}, weights) }

type averageHeads struct{}

func (averageHeads) spec() (string, []arg) { return "AverageHeads", []arg{{name: "weights"}} }

func (averageHeads) shape(in []tensor.Shape) (tensor.Shape, error) {
	n := in[0].Dims()
	if n < 3 {
		return nil, &ShapeError{"AverageHeads", "weights", in[0], "(…, H, T, S)"}
	}
	return append(in[0][:n-3].Clone(), in[0][n-2:]...), nil
}

func (averageHeads) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, averageHeadsForward[float32], averageHeadsForward[float64])(out, in)
}

func averageHeadsForward[F kernel.Float](out *tensor.Dense, in []*tensor.Dense) error {
	x, y := floats[F](in[0]), floats[F](out)
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
// [lo, hi) is the mean of as many elements of each head, which begin at at and lie
// a head's size apart.
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
func (averageHeads) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	dx, err := apply(averageHeadsBackward{in[0].Shape()}, dy)
	return G.Nodes{dx}, err
}

type averageHeadsBackward struct{ Weights tensor.Shape }

func (averageHeadsBackward) spec() (string, []arg) {
	return "AverageHeadsBackward", []arg{{name: "dy"}}
}

func (o averageHeadsBackward) shape([]tensor.Shape) (tensor.Shape, error) {
	return o.Weights.Clone(), nil
}

func (o averageHeadsBackward) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, averageHeadsBackwardForward[float32], averageHeadsBackwardForward[float64])(o, out, in)
}

func averageHeadsBackwardForward[F kernel.Float](o averageHeadsBackward, out *tensor.Dense, in []*tensor.Dense) error {
	dx, dy := floats[F](out), floats[F](in[0])
	forHeads(o.Weights, func(heads, lo, hi, at, size int) {
		for h := range heads {
			d := dx[at+h*size:][:hi-lo]
			for i, v := range dy[lo:hi] {
				d[i] = v / F(heads)
			}
		}
	})
	return nil
}

func (o averageHeadsBackward) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) {
	return noSecond(o)
}
