package graph

import (
	"fmt"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// RepeatHeads repeats each head of x (…, K, S, D) the given number of times, side by
// side, as (…, K·times, S, D): what lets query heads share a key/value head
// (torch.repeat_interleave on the heads' axis).
func RepeatHeads(x *G.Node, times int) (*G.Node, error) {
	if times < 1 {
		return nil, fmt.Errorf("graph: RepeatHeads: times: got %d, want at least 1", times)
	}
	if times == 1 && x != nil {
		return x, nil
	}
	return apply(repeatHeads{times}, x)
}

type repeatHeads struct{ Times int }

func (repeatHeads) spec() (string, []arg) { return "RepeatHeads", []arg{{name: "x"}} }

func (o repeatHeads) shape(in []tensor.Shape) (tensor.Shape, error) {
	x := in[0]
	n := x.Dims()
	if n < 3 {
		return nil, &ShapeError{"RepeatHeads", "x", x, "(…, K, S, D)"}
	}
	y := x.Clone()
	y[n-3] *= o.Times
	return y, nil
}

func (o repeatHeads) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, repeatHeadsForward[float32], repeatHeadsForward[float64])(o, out, in)
}

func repeatHeadsForward[F kernel.Float](o repeatHeads, out *tensor.Dense, in []*tensor.Dense) error {
	x, y, size := floats[F](in[0]), floats[F](out), headSize(in[0].Shape())
	for i := range len(y) / size {
		copy(y[i*size:(i+1)*size], x[i/o.Times*size:])
	}
	return nil
}

// headSize is the number of elements S·D of one head of (…, K, S, D).
func headSize(s tensor.Shape) int { return s[len(s)-2] * s[len(s)-1] }

// y[h] = x[h/times]:  dx[k] = Σ dy[h] over the heads h that share k.
func (o repeatHeads) backward(_ G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	dx, err := apply(sumHeads{o.Times}, dy)
	return G.Nodes{dx}, err
}

// sumHeads adds up each run of Times heads.
type sumHeads struct{ Times int }

func (sumHeads) spec() (string, []arg) { return "SumHeads", []arg{{name: "x"}} }

func (o sumHeads) shape(in []tensor.Shape) (tensor.Shape, error) {
	y := in[0].Clone()
	y[len(y)-3] /= o.Times
	return y, nil
}

func (o sumHeads) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, sumHeadsForward[float32], sumHeadsForward[float64])(o, out, in)
}

func sumHeadsForward[F kernel.Float](o sumHeads, out *tensor.Dense, in []*tensor.Dense) error {
	x, y, size := floats[F](in[0]), floats[F](out), headSize(in[0].Shape())
	clear(y)
	for i := range len(x) / size {
		sum := y[i/o.Times*size:][:size]
		for j, v := range x[i*size : (i+1)*size] {
			sum[j] += v
		}
	}
	return nil
}

// y[k] = Σ x[h]:  dx[h] = dy[h/times].
func (o sumHeads) backward(_ G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	dx, err := RepeatHeads(dy, o.Times)
	return G.Nodes{dx}, err
}
