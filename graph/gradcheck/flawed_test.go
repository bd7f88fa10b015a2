package gradcheck_test

import (
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"math"
	"testing"

	"attention/graph/gradcheck"
	"attention/internal/golden"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// flaw is an error in the gradient of square, or in square itself.
type flaw string

const (
	none          flaw = "right"
	wrongSign     flaw = "wrong sign"
	missingFactor flaw = "missing factor"
	oneElement    flaw = "one wrong element"
	onesOnly      flaw = "ignores the upstream gradient"
	meanOnly      flaw = "right only for plain sums"
	drifting      flaw = "another value in each run"
	offset        flaw = "not zero for a zero upstream gradient"
	notANumber    flaw = "NaN"
	oneInfinite   flaw = "one infinite element"
	swappedAxes   flaw = "swapped axes"
	wrongShape    flaw = "wrong shape"
	tooMany       flaw = "too many elements"
	unsigned      flaw = "loses the sign of the upstream gradient"
	justOutside   flaw = "just outside the tolerance"
	justInside    flaw = "just inside the tolerance"
	panics        flaw = "panics"
	fails         flaw = "returns an error"
	failsLater    flaw = "returns an error when run"
	panicsLater   flaw = "panics when run"
	noGradient    flaw = "returns no gradient"
	notDeclared   flaw = "declared not differentiable"
	randomForward flaw = "another output in each run"
	nanForward    flaw = "an output that is NaN"
)

// square is x⊙x with a flaw.
type square struct {
	flaw flaw
	of   *G.Node
	runs *int
}

// squareOf applies the op.
func squareOf(x *G.Node, f flaw) *G.Node {
	return G.Must(G.ApplyOp(square{flaw: f, of: x, runs: new(int)}, x))
}

func (o square) Arity() int                                     { return 1 }
func (o square) ReturnsPtr() bool                               { return true }
func (o square) CallsExtern() bool                              { return false }
func (o square) OverwritesInput() int                           { return -1 }
func (o square) Type() hm.Type                                  { return hm.NewFnType(o.of.Type(), o.of.Type()) }
func (o square) InferShape(...G.DimSizer) (tensor.Shape, error) { return o.of.Shape(), nil }
func (o square) WriteHash(h hash.Hash)                          { fmt.Fprint(h, o.String()) }
func (o square) String() string                                 { return fmt.Sprintf("Square{%s}", o.flaw) }
func (o square) Hashcode() uint32                               { return hashOf(o) }
func (o square) DiffWRT(int) []bool                             { return []bool{o.flaw != notDeclared} }

func (o square) Do(in ...G.Value) (G.Value, error) {
	*o.runs++
	y := in[0].(*tensor.Dense).Clone().(*tensor.Dense)
	if err := apply1(y, func(_ int, x float64) float64 { return x * x }); err != nil {
		return nil, err
	}
	switch o.flaw {
	case randomForward:
		y.Set(0, float64(*o.runs))
	case nanForward:
		y.Set(1, math.NaN())
	}
	return y, nil
}

// y = x⊙x:  dx = 2·x⊙dy.
func (o square) SymDiff(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	switch o.flaw {
	case panics:
		panic("no gradient for you")
	case fails:
		return nil, errors.New("no gradient for you")
	case noGradient:
		return G.Nodes{nil}, nil
	}
	dx, err := G.ApplyOp(squareGrad{square: o}, in[0], dy)
	return G.Nodes{dx}, err
}

// squareGrad is square's backward.
type squareGrad struct{ square }

func (o squareGrad) Arity() int { return 2 }
func (o squareGrad) Type() hm.Type {
	return hm.NewFnType(o.of.Type(), o.of.Type(), o.of.Type())
}
func (o squareGrad) InferShape(...G.DimSizer) (tensor.Shape, error) {
	s := o.of.Shape()
	if o.flaw == wrongShape {
		return tensor.Shape{s[1], s[0]}, nil
	}
	if o.flaw == tooMany {
		return tensor.Shape{s[0], s[1] + 1}, nil
	}
	return s, nil
}
func (o squareGrad) String() string        { return fmt.Sprintf("SquareGrad{%s}", o.flaw) }
func (o squareGrad) WriteHash(h hash.Hash) { fmt.Fprint(h, o.String()) }
func (o squareGrad) Hashcode() uint32      { return hashOf(o) }
func (o squareGrad) DiffWRT(int) []bool    { return []bool{false, false} }

func (o squareGrad) Do(in ...G.Value) (G.Value, error) {
	*o.runs++
	switch o.flaw {
	case failsLater:
		return nil, errors.New("no gradient for you")
	case panicsLater:
		panic("no gradient for you")
	}
	x, dy := in[0].(*tensor.Dense), in[1].(*tensor.Dense)
	dx := x.Clone().(*tensor.Dense)
	ups := float64s(dy)
	if err := apply1(dx, func(i int, v float64) float64 { return o.element(i, v, ups) }); err != nil {
		return nil, err
	}
	switch o.flaw {
	case swappedAxes:
		// The right elements, but in the order of the transposed tensor.
		right, rows, cols := float64s(dx.Clone().(*tensor.Dense)), x.Shape()[0], x.Shape()[1]
		return dx, apply1(dx, func(i int, _ float64) float64 { return right[i%rows*cols+i/rows] })
	case wrongShape:
		return dx, dx.Reshape(x.Shape()[1], x.Shape()[0])
	case tooMany:
		return tensor.New(tensor.WithShape(x.Shape()[0], x.Shape()[1]+1), tensor.Of(x.Dtype())), nil
	}
	return dx, nil
}

// element returns element i of the gradient for the upstream gradient ups.
func (o squareGrad) element(i int, x float64, ups []float64) float64 {
	right := 2 * x * ups[i]
	switch o.flaw {
	case wrongSign:
		return -right
	case missingFactor:
		return right / 2
	case oneElement:
		if i == 4 {
			return right * 1.01
		}
	case onesOnly:
		return 2 * x
	case unsigned:
		return 2 * x * math.Abs(ups[i])
	case meanOnly:
		mean := 0.0
		for _, u := range ups {
			mean += u / float64(len(ups))
		}
		return 2 * x * mean
	case drifting:
		return right * (1 + 1e-15*float64(*o.runs))
	case offset:
		return right + 1e-12
	case notANumber:
		return math.NaN()
	case oneInfinite:
		if i == 4 {
			return math.Inf(1)
		}
	case justOutside:
		return right * (1 + 1.1e-5)
	case justInside:
		return right * (1 + 0.9e-5)
	}
	return right
}

func hashOf(o G.Op) uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

// apply1 replaces element i of t, x, with f(i, x).
func apply1(t *tensor.Dense, f func(i int, x float64) float64) error {
	switch d := t.Data().(type) {
	case []float64:
		for i, x := range d {
			d[i] = f(i, x)
		}
	case []float32:
		for i, x := range d {
			d[i] = float32(f(i, float64(x)))
		}
	default:
		return fmt.Errorf("square: got %T", d)
	}
	return nil
}

func float64s(t *tensor.Dense) []float64 {
	if d, ok := t.Data().([]float64); ok {
		return append([]float64{}, d...)
	}
	var wide []float64
	for _, x := range t.Data().([]float32) {
		wide = append(wide, float64(x))
	}
	return wide
}

var modes = []gradcheck.Mode{gradcheck.EveryElement, gradcheck.OneDirection}

// values returns n distinct numbers, none of them near zero.
func values(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 0.5 + 0.125*float64(i%7) + 0.015625*float64(i)
		if i%3 == 1 {
			x[i] = -x[i]
		}
	}
	return x
}

func input64(g *G.ExprGraph, name string, shape ...int) *G.Node {
	return input(tensor.Float64, g, name, shape)
}

func input32(g *G.ExprGraph, name string, shape ...int) *G.Node {
	return input(tensor.Float32, g, name, shape)
}

func input(dt tensor.Dtype, g *G.ExprGraph, name string, shape tensor.Shape) *G.Node {
	v := golden.Dense(dt, values(shape.TotalSize()), shape...)
	return G.NewTensor(g, dt, len(shape), G.WithShape(shape...), G.WithName(name), G.WithValue(v))
}

// flawed checks a product of square(x), so that the op's upstream gradient is a result of
// the graph.
func flawed(t *testing.T, f flaw, c gradcheck.Config) (*gradcheck.Report, error) {
	t.Helper()
	g := G.NewGraph()
	x, w := input64(g, "x", 2, 3), input64(g, "w", 3, 5)
	return gradcheck.Check(G.Must(G.Mul(squareOf(x, f), w)), G.Nodes{x, w}, c)
}
