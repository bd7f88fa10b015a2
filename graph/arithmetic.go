package graph

import (
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/expr"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Add returns x + y (torch.add). In Add, Sub, Mul and Div the shapes are broadcast as in
// torch: they are aligned at their last axes, and an axis that is missing or of length 1
// is repeated. A bias (E) or positions (T, E) are added to every part of x (B, T, E).
func Add(x, y *G.Node) (*G.Node, error) { return combine(kernel.Plus, x, y) }

// Sub returns x − y (torch.sub), broadcast as in Add.
func Sub(x, y *G.Node) (*G.Node, error) { return combine(kernel.Minus, x, y) }

// Mul returns x⊙y, element by element (torch.mul), broadcast as in Add.
func Mul(x, y *G.Node) (*G.Node, error) { return combine(kernel.Times, x, y) }

// Div returns x/y, element by element (torch.div), broadcast as in Add.
func Div(x, y *G.Node) (*G.Node, error) { return combine(kernel.Over, x, y) }

var operationNames = [...]string{kernel.Plus: "Add", kernel.Minus: "Sub", kernel.Times: "Mul", kernel.Over: "Div"}

// combination is z = x op y.
type combination struct {
	outShape
	Op    kernel.Operation
	Reads kernel.Broadcast
	Into  []int // the inputs of the result's shape
}

func combine(op kernel.Operation, x, y *G.Node) (*G.Node, error) {
	name := operationNames[op]
	reads, out, err := readTogether(name, named("x", "y"), x, y)
	if err != nil {
		return nil, err
	}
	c := combination{outShape: outShape{out}, Op: op, Reads: reads, Into: full(out, x, y)}
	return applyTyped(arithmetic[float32]{c}, arithmetic[float64]{c}, x, y)
}

// readTogether returns how the kernel walks over both arguments, and the shape of the result.
func readTogether(op string, args []arg, in ...*G.Node) (kernel.Broadcast, tensor.Shape, error) {
	var none kernel.Broadcast
	in, err := checked(op, args, in...)
	if err != nil {
		return none, nil, err
	}
	shapes := make([][]int, 0, len(in))
	for i, n := range in {
		if err := checkNotEmpty(op, args[i].name, n.Shape()); err != nil {
			return none, nil, err
		}
		_, so, _ := kernel.NewBroadcast(shapes...)
		shapes = append(shapes, n.Shape())
		if _, _, ok := kernel.NewBroadcast(shapes...); !ok {
			return none, nil, &ShapeError{op, args[i].name, n.Shape(),
				fmt.Sprintf("one that broadcasts with %v", tensor.Shape(so))}
		}
	}
	reads, out, _ := kernel.NewBroadcast(shapes...)
	return reads, out, nil
}

// full returns which nodes have the shape.
func full(shape tensor.Shape, in ...*G.Node) (which []int) {
	for i, n := range in {
		if slices.Equal(n.Shape(), shape) {
			which = append(which, i)
		}
	}
	return which
}

// arithmetic is z = x op y. It is an op because formulas are made of these four operations.
type arithmetic[F kernel.Float] struct{ combination }

func (o arithmetic[F]) spec() spec {
	return spec{name: operationNames[o.Op], args: named("x", "y"), inPlace: o.Into}
}

func (o arithmetic[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	kernel.Arithmetic(o.Op, dense.Floats[F](out), dense.Floats[F](in[0]), dense.Floats[F](in[1]), o.Reads)
	return nil
}

// x + y: dx = dz, dy = dz. x − y: dx = dz, dy = −dz. x⊙y: dx = dz⊙y, dy = dz⊙x.
// z = x/y: dx = dz/y, dy = −z⊙dx. All summed over the axes that were repeated.
func (o arithmetic[F]) backward(in G.Nodes, z, dz *G.Node) (G.Nodes, error) {
	var f expr.Formula
	dx, dy := dz, dz
	switch o.Op {
	case kernel.Plus:
		return summed(sumToAddend, in, dz, dz)
	case kernel.Minus:
		dy = f.Of(Scale(dz, -1))
	case kernel.Times:
		dx, dy = f.Of(Mul(dz, in[1])), f.Of(Mul(dz, in[0]))
	case kernel.Over:
		dx = f.Of(Div(dz, in[1]))
		dy = f.Of(Scale(f.Of(Mul(dx, z)), -1))
	}
	if f.Err() != nil {
		return nil, f.Err()
	}
	return summed(sumTo, in, dx, dy)
}

// summed returns gradients in the shapes of the inputs.
func summed(sum func(*G.Node, tensor.Shape) (*G.Node, error), in G.Nodes, grads ...*G.Node) (G.Nodes, error) {
	d := make(G.Nodes, len(in))
	for i, g := range grads {
		var err error
		if d[i], err = sum(g, in[i].Shape()); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// sumTo sums x over the axes along which an input was repeated, and returns the sum in the input's shape.
func sumTo(x *G.Node, shape tensor.Shape) (*G.Node, error) {
	if slices.Equal(x.Shape(), shape) {
		return x, nil
	}
	var axes []int
	lacks := x.Dims() - shape.Dims()
	for axis, n := range x.Shape() {
		if axis < lacks || shape[axis-lacks] == 1 && n > 1 {
			axes = append(axes, axis)
		}
	}
	o := reduction{outShape: outShape{shape}, Name: "Sum", X: x.Shape(), Along: kernel.NewReduction(x.Shape(), axes),
		C: 1}
	return applyTyped(reduce[float32]{o}, reduce[float64]{o}, x)
}

// sumToAddend is sumTo for the gradient of an addend. The last axes, such as those of a bias, are summed row by row in
// the type of x, because that is faster.
func sumToAddend(x *G.Node, shape tensor.Shape) (*G.Node, error) {
	lacks := x.Dims() - shape.Dims()
	if lacks == 0 || shape.Dims() == 0 || !slices.Equal(x.Shape()[lacks:], shape) {
		return sumTo(x, shape)
	}
	return applyTyped(sumLeading[float32]{Keep: shape.Dims()}, sumLeading[float64]{Keep: shape.Dims()}, x)
}

type sumLeading[F kernel.Float] struct {
	isGradient
	Keep int
}

func (sumLeading[F]) spec() spec { return spec{name: "SumLeading", args: named("x")} }

func (o sumLeading[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	return in[0][in[0].Dims()-o.Keep:].Clone(), nil
}

func (sumLeading[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	kernel.SumRows(dense.Floats[F](out), dense.Floats[F](in[0]))
	return nil
}
