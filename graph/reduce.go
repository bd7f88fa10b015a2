package graph

import (
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// ReduceConfig selects the axes along which Sum, Mean, Max and ArgMax combine elements.
type ReduceConfig struct {
	Dim     []int // the axes, −1 being the last; none means all
	KeepDim bool  // whether the axes stay, with length 1
}

// Sum returns the sum along axes (torch.sum), summed in float64: the error of a float32 sum is at most 2⁻²³·log₂n·Σ|x|.
// gorgonia.Sum adds one number after another in the type of x, and has an error of 1 % at 9 million elements.
func Sum(x *G.Node, c ReduceConfig) (*G.Node, error) { return reduceBy("Sum", x, c) }

// Mean returns the mean along axes (torch.mean), summed in float64.
func Mean(x *G.Node, c ReduceConfig) (*G.Node, error) { return reduceBy("Mean", x, c) }

// Max returns the largest element along axes, NaN if there is one (torch.amax). Equal largest elements share the
// gradient evenly; the gradient of TopK with k = 1 goes to one of them.
func Max(x *G.Node, c ReduceConfig) (*G.Node, error) { return reduceBy("Max", x, c) }

// reduction holds the settings of a reduction and of its gradient.
type reduction struct {
	outShape
	Name  string
	X     tensor.Shape
	Along kernel.Reduction
	C     float64 // the divisor of Sum and Mean
}

func reduceBy(name string, x *G.Node, c ReduceConfig) (*G.Node, error) {
	o, err := newReduction(name, x, c)
	if err != nil {
		return nil, err
	}
	o.C = 1
	if name == "Mean" {
		o.C = float64(o.Along.N)
	}
	return applyTyped(reduce[float32]{o}, reduce[float64]{o}, x)
}

// newReduction checks x and the axes.
func newReduction(name string, x *G.Node, c ReduceConfig) (reduction, error) {
	if err := checkArgs(name, named("x"), G.Nodes{x}); err != nil {
		return reduction{}, err
	}
	shape := x.Shape().Clone()
	axes, err := axesOf(name, c.Dim, shape)
	if err != nil {
		return reduction{}, err
	}
	out := tensor.Shape{}
	for axis, n := range shape {
		switch {
		case !slices.Contains(axes, axis):
			out = append(out, n)
		case c.KeepDim:
			out = append(out, 1)
		}
	}
	return reduction{outShape: outShape{out}, Name: name, X: shape, Along: kernel.NewReduction(shape, axes)}, nil
}

// axesOf returns the axes of a shape with elements, counted from the first: those of dim, or all.
func axesOf(op string, dim []int, shape tensor.Shape) ([]int, error) {
	if err := checkNotEmpty(op, "x", shape); err != nil {
		return nil, err
	}
	var axes []int
	n := len(shape)
	for _, d := range dim {
		axis := d
		if d < 0 {
			axis += n
		}
		if axis < 0 || axis >= n {
			return nil, fmt.Errorf("graph: %s: dim: got %d, want an axis of x, of shape %v", op, d, shape)
		}
		if slices.Contains(axes, axis) {
			return nil, fmt.Errorf("graph: %s: dim: got %v, want every axis once", op, dim)
		}
		axes = append(axes, axis)
	}
	for axis := range shape {
		if len(dim) == 0 {
			axes = append(axes, axis)
		}
	}
	return axes, nil
}

// reduce is Sum, Mean or Max along axes. It is an op because no other op combines the elements of an axis.
type reduce[F kernel.Float] struct{ reduction }

func (o reduce[F]) spec() spec { return spec{name: o.Name, args: named("x")} }

func (o reduce[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	y, x := dense.Floats[F](out), dense.Floats[F](in[0])
	if o.Name == "Max" {
		kernel.MaxOver(y, x, o.Along)
	} else {
		kernel.SumOver(y, x, o.Along, o.C)
	}
	return nil
}

func (o reduce[F]) backward(in G.Nodes, y, dy *G.Node) (G.Nodes, error) {
	if o.Name == "Max" {
		return only(apply(maxBackward[F]{reduction: o.reduction}, in[0], y, dy))
	}
	return only(apply(repeat[F]{reduction: o.reduction}, dy))
}

// y = Σ x/c:  dx = dy/c for every x.
type repeat[F kernel.Float] struct {
	isGradient
	reduction
}

func (o repeat[F]) spec() spec { return spec{name: o.Name + "Backward", args: named("dy")} }

func (o repeat[F]) shape([]tensor.Shape) (tensor.Shape, error) { return o.X.Clone(), nil }

func (o repeat[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	kernel.Repeat(dense.Floats[F](out), dense.Floats[F](in[0]), o.Along, o.C)
	return nil
}

// maxBackward is dx = dy/n for the n equal largest elements, else 0.
type maxBackward[F kernel.Float] struct {
	sameShape
	isGradient
	reduction
}

func (maxBackward[F]) spec() spec {
	return spec{name: "MaxBackward", args: named("x", "y", "dy"), inPlace: first}
}

func (o maxBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	dx, x, y, dy := dense.Floats[F](out), dense.Floats[F](in[0]), dense.Floats[F](in[1]), dense.Floats[F](in[2])
	kernel.MaxBackward(dx, x, y, dy, o.Along)
	return nil
}
