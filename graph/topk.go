package graph

import (
	"fmt"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// ArgMax returns the index of the largest element along one axis, or in the whole of x if c names no axis, as ints
// (torch.argmax): the first of equal elements, and the first NaN if there is one. It has no gradient.
func ArgMax(x *G.Node, c ReduceConfig) (*G.Node, error) {
	o, err := newReduction("ArgMax", x, c)
	if err != nil {
		return nil, err
	}
	if len(c.Dim) > 1 {
		return nil, fmt.Errorf("graph: ArgMax: dim: got %v, want one axis, or none for all", c.Dim)
	}
	return applyTyped(argMax[float32]{reduction: o}, argMax[float64]{reduction: o}, x)
}

// argMax returns indices. It is an op because no other op finds the index of a maximum.
type argMax[F kernel.Float] struct {
	indices
	reduction
}

func (argMax[F]) spec() spec { return spec{name: "ArgMax", args: named("x"), integers: true} }

func (o argMax[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	kernel.ArgMaxOver(out.Ints(), dense.Floats[F](in[0]), o.Along)
	return nil
}

// TopK returns the k largest elements of every row of x (…, S), and their indices as ints, both (…, k) (torch.topk over
// the last axis). The largest comes first, equal elements in their order, and NaN before every number. The gradient of
// a value flows to its element of x.
func TopK(x *G.Node, k int) (values, ids *G.Node, err error) {
	if ids, err = applyTyped(topK[float32]{K: k}, topK[float64]{K: k}, x); err != nil {
		return nil, nil, err
	}
	if values, err = applyTyped(gather[float32]{}, gather[float64]{}, x, ids); err != nil {
		return nil, nil, err
	}
	return values, ids, nil
}

// topK returns the indices of the largest elements. It is an op because no other op ranks elements.
type topK[F kernel.Float] struct {
	indices
	K int
}

func (topK[F]) spec() spec { return spec{name: "TopK", args: named("x"), integers: true} }

func (o topK[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	x := in[0]
	if x.Dims() == 0 {
		return nil, &ShapeError{"TopK", "x", x, "(…, S)"}
	}
	if o.K < 1 || o.K > last(x) {
		return nil, fmt.Errorf("graph: TopK: k: got %d, want 1 to S=%d", o.K, last(x))
	}
	return append(x[:x.Dims()-1].Clone(), o.K), nil
}

func (o topK[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	kernel.TopK(out.Ints(), dense.Floats[F](in[0]), o.K, last(in[0].Shape()))
	return nil
}

// gather selects the elements of every row of x (…, S) that ids (…, k) name, each once. It is an op because no other op
// reads elements by integers.
type gather[F kernel.Float] struct{}

func (gather[F]) spec() spec {
	return spec{name: "TopK", args: []arg{{name: "x"}, {name: "ids", integer: true}}}
}

func (gather[F]) shape(in []tensor.Shape) (tensor.Shape, error) { return in[1].Clone(), nil }

func (gather[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	y, x, ids := dense.Floats[F](out), dense.Floats[F](in[0]), in[1].Ints()
	k, cols := last(in[1].Shape()), last(in[0].Shape())
	for i, id := range ids {
		y[i] = x[i/k*cols+id]
	}
	return nil
}

// y[i] = x[id[i]]:  dx[id[i]] = dy[i], 0 elsewhere.
func (gather[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	return only(apply(gatherBackward[F]{outShape: outShape{in[0].Shape()}}, in[1], dy))
}

type gatherBackward[F kernel.Float] struct {
	isGradient
	outShape
}

func (gatherBackward[F]) spec() spec {
	return spec{name: "TopKBackward", args: []arg{{name: "ids", integer: true}, {name: "dy"}}}
}

func (o gatherBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	dx, dy, ids := dense.Floats[F](out), dense.Floats[F](in[1]), in[0].Ints()
	k, cols := last(in[0].Shape()), last(o.Out)
	clear(dx)
	for i, id := range ids {
		dx[i/k*cols+id] = dy[i]
	}
	return nil
}
