package graph

import (
	"fmt"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// SplitHeads lays out x (…, T, H·D) as (…, H, T, D); head h owns the columns
// h·D … (h+1)·D.
func SplitHeads(x *G.Node, heads int) (*G.Node, error) {
	if heads < 1 {
		return nil, fmt.Errorf("graph: SplitHeads: heads: got %d, want at least 1", heads)
	}
	return apply(splitHeads{heads}, x)
}

// MergeHeads lays out x (…, H, T, D) as (…, T, H·D), undoing SplitHeads.
func MergeHeads(x *G.Node) (*G.Node, error) { return apply(mergeHeads{}, x) }

type splitHeads struct{ Heads int }

func (splitHeads) spec() (string, []arg) { return "SplitHeads", []arg{{name: "x"}} }

func (o splitHeads) shape(in []tensor.Shape) (tensor.Shape, error) {
	x := in[0]
	n := x.Dims()
	if n < 2 || x[n-1]%o.Heads != 0 {
		return nil, &ShapeError{"SplitHeads", "x", x, fmt.Sprintf("(…, T, H·D) with H=%d", o.Heads)}
	}
	return append(x[:n-2].Clone(), o.Heads, x[n-2], x[n-1]/o.Heads), nil
}

func (o splitHeads) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, swapForward[float32], swapForward[float64])(out, in[0], in[0].Shape().Dims()-2, o.Heads)
}

// y = split(x):  dx = merge(dy).
func (o splitHeads) backward(_ G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	dx, err := MergeHeads(dy)
	return G.Nodes{dx}, err
}

type mergeHeads struct{}

func (mergeHeads) spec() (string, []arg) { return "MergeHeads", []arg{{name: "x"}} }

func (mergeHeads) shape(in []tensor.Shape) (tensor.Shape, error) {
	x := in[0]
	n := x.Dims()
	if n < 3 {
		return nil, &ShapeError{"MergeHeads", "x", x, "(…, H, T, D)"}
	}
	return append(x[:n-3].Clone(), x[n-2], x[n-3]*x[n-1]), nil
}

func (mergeHeads) forward(out *tensor.Dense, in []*tensor.Dense) error {
	n := in[0].Shape().Dims()
	return byType(out, swapForward[float32], swapForward[float64])(out, in[0], n-3, in[0].Shape()[n-2])
}

// y = merge(x):  dx = split(dy).
func (mergeHeads) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	dx, err := SplitHeads(dy, in[0].Shape()[in[0].Dims()-3])
	return G.Nodes{dx}, err
}

// swapForward reads x as (…, M, N, D), where M is the axis given and N as given,
// and writes (…, N, M, D).
func swapForward[F kernel.Float](out, in *tensor.Dense, axis, n int) error {
	m, d := in.Shape()[axis], 0
	x, y := floats[F](in), floats[F](out)
	if s := in.Shape(); len(s) == axis+2 {
		d = s[axis+1] / n
	} else {
		d = s[axis+2]
	}
	for lo := 0; lo < len(x); lo += m * n * d {
		for i := range m {
			for j := range n {
				copy(y[lo+(j*m+i)*d:][:d], x[lo+(i*n+j)*d:])
			}
		}
	}
	return nil
}
