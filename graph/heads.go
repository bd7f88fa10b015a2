package graph

import (
	"fmt"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// SplitHeads returns x (…, T, H·D) laid out as (…, H, T, D); head h owns the columns
// h·D … (h+1)·D.
func SplitHeads(x *G.Node, heads int) (*G.Node, error) {
	if heads < 1 {
		return nil, fmt.Errorf("graph: SplitHeads: heads: got %d, want at least 1", heads)
	}
	in, err := checked("SplitHeads", named("x"), x)
	if err != nil {
		return nil, err
	}
	s := in[0].Shape()
	n := s.Dims()
	if n < 2 || s[n-1]%heads != 0 {
		return nil, &ShapeError{"SplitHeads", "x", s, fmt.Sprintf("(…, T, H·D) with H=%d", heads)}
	}
	batch, t, d := s[:n-2].TotalSize(), s[n-2], s[n-1]/heads
	return permute("SplitHeads", in[0], []int{batch, t, heads, d}, []int{0, 2, 1, 3}, append(s[:n-2].Clone(), heads, t, d))
}

// MergeHeads returns x (…, H, T, D) laid out as (…, T, H·D), undoing SplitHeads.
func MergeHeads(x *G.Node) (*G.Node, error) {
	in, err := checked("MergeHeads", named("x"), x)
	if err != nil {
		return nil, err
	}
	s := in[0].Shape()
	n := s.Dims()
	if n < 3 {
		return nil, &ShapeError{"MergeHeads", "x", s, "(…, H, T, D)"}
	}
	batch, heads, t, d := s[:n-3].TotalSize(), s[n-3], s[n-2], s[n-1]
	return permute("MergeHeads", in[0], []int{batch, heads, t, d}, []int{0, 2, 1, 3}, append(s[:n-3].Clone(), t, heads*d))
}

// RepeatHeads returns x (…, K, S, D) with each head repeated the given number of times,
// side by side, as (…, K·times, S, D), so that query heads share a key/value head
// (torch.repeat_interleave on the heads' axis).
func RepeatHeads(x *G.Node, times int) (*G.Node, error) {
	if times < 1 {
		return nil, fmt.Errorf("graph: RepeatHeads: times: got %d, want at least 1", times)
	}
	if times == 1 && x != nil {
		return x, nil
	}
	return applyTyped(repeatHeads[float32]{times}, repeatHeads[float64]{times}, x)
}

type repeatHeads[F kernel.Float] struct{ Times int }

func (repeatHeads[F]) spec() (string, []arg) { return "RepeatHeads", named("x") }

func (o repeatHeads[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	x := in[0]
	n := x.Dims()
	if n < 3 {
		return nil, &ShapeError{"RepeatHeads", "x", x, "(…, K, S, D)"}
	}
	y := x.Clone()
	y[n-3] *= o.Times
	return y, nil
}

func (o repeatHeads[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	x, y, size := dense.Floats[F](in[0]), dense.Floats[F](out), headSize(in[0].Shape())
	for i := range len(y) / size {
		copy(y[i*size:(i+1)*size], x[i/o.Times*size:])
	}
	return nil
}

// headSize returns the number of elements S·D of one head of (…, K, S, D).
func headSize(s tensor.Shape) int { return s[len(s)-2] * s[len(s)-1] }

// y[h] = x[h/times]:  dx[k] = Σ dy[h] over the heads h that share k.
func (o repeatHeads[F]) backward(_ G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	return only(apply(sumHeads[F](o), dy))
}

// sumHeads sums each run of Times heads.
type sumHeads[F kernel.Float] struct{ Times int }

func (sumHeads[F]) spec() (string, []arg) { return "SumHeads", named("x") }

func (o sumHeads[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	y := in[0].Clone()
	y[len(y)-3] /= o.Times
	return y, nil
}

func (o sumHeads[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	x, y, size := dense.Floats[F](in[0]), dense.Floats[F](out), headSize(in[0].Shape())
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
func (o sumHeads[F]) backward(_ G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	return only(RepeatHeads(dy, o.Times))
}
