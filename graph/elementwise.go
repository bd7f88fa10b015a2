package graph

import (
	"fmt"
	"math"
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Exp returns eˣ, element by element (torch.exp).
func Exp(x *G.Node) (*G.Node, error) { return applyElementwise("Exp", x) }

// Tanh returns the hyperbolic tangent, element by element (torch.tanh).
func Tanh(x *G.Node) (*G.Node, error) { return applyElementwise("Tanh", x) }

// Sigmoid returns 1/(1 + e^−x), element by element (torch.sigmoid).
func Sigmoid(x *G.Node) (*G.Node, error) { return applyElementwise("Sigmoid", x) }

// LogSigmoid returns −log(1 + e^−x), element by element (torch.nn.functional.logsigmoid).
func LogSigmoid(x *G.Node) (*G.Node, error) { return applyElementwise("LogSigmoid", x) }

// ReLU returns max(x, 0), element by element (torch.relu).
func ReLU(x *G.Node) (*G.Node, error) { return applyElementwise("ReLU", x) }

// ReLUSquared returns max(x, 0)², element by element (So et al. 2021).
func ReLUSquared(x *G.Node) (*G.Node, error) { return applyElementwise("ReLUSquared", x) }

// SiLU returns x/(1 + e^−x), element by element, also known as swish
// (torch.nn.functional.silu).
func SiLU(x *G.Node) (*G.Node, error) { return applyElementwise("SiLU", x) }

// GELU returns x·Φ(x), element by element, with Φ the normal distribution (Hendrycks and
// Gimpel 2016; torch.nn.functional.gelu).
func GELU(x *G.Node) (*G.Node, error) { return applyElementwise("GELU", x) }

// GELUTanh returns ½x·(1 + tanh(√(2/π)·(x + 0.044715·x³))), element by element: GELU as
// GPT-2 approximates it (torch's gelu with approximate="tanh", also named gelu_new).
func GELUTanh(x *G.Node) (*G.Node, error) { return applyElementwise("GELUTanh", x) }

// Softcap returns cap·tanh(x/cap), element by element: nearly x around 0, and never beyond ±cap (Gemma Team 2024). cap
// must be above 0.
func Softcap(x *G.Node, cap float64) (*G.Node, error) {
	if !(cap > 0) || math.IsInf(cap, 1) {
		return nil, fmt.Errorf("graph: Softcap: cap: got %v, want a finite number above 0", cap)
	}
	if err := checkFitting("Softcap", "cap", x, cap); err != nil {
		return nil, err
	}
	return applyElementwise("Softcap", x, cap)
}

// Scale returns x·factor; −∞ stays −∞ if factor is above 0.
func Scale(x *G.Node, factor float64) (*G.Node, error) {
	if math.IsNaN(factor) || math.IsInf(factor, 0) {
		return nil, fmt.Errorf("graph: Scale: factor: got %v, want a finite number", factor)
	}
	if factor != 0 {
		if err := checkFitting("Scale", "factor", x, factor); err != nil {
			return nil, err
		}
	}
	return applyElementwise("Scale", x, factor)
}

// Clamp returns x limited to the range from low to high, element by element (torch.clamp). math.Inf means no limit. The
// gradient is 0 at a limit and beyond it, as in PyTorch 2.15; up to PyTorch 1.13 a limit itself passed the gradient.
func Clamp(x *G.Node, low, high float64) (*G.Node, error) {
	if !(low <= high) {
		return nil, fmt.Errorf("graph: Clamp: low, high: got %v and %v, want low <= high", low, high)
	}
	for i, limit := range []float64{low, high} {
		if limit != 0 && !math.IsInf(limit, 0) {
			if err := checkFitting("Clamp", []string{"low", "high"}[i], x, limit); err != nil {
				return nil, err
			}
		}
	}
	return applyElementwise("Clamp", x, low, high)
}

// absolute returns |x|, element by element. Its gradient at 0 is 0.
func absolute(x *G.Node) (*G.Node, error) { return applyElementwise("Abs", x) }

// logarithm returns the natural logarithm, element by element.
func logarithm(x *G.Node) (*G.Node, error) { return applyElementwise("Log", x) }

// constant returns a constant of x's type in x's graph.
func constant(x *G.Node, v float64) *G.Node {
	return x.Graph().Constant(dense.ByType[G.Value](x.Dtype(), G.NewF32(float32(v)), G.NewF64(v)))
}

// filled returns a tensor of x's type in x's graph whose elements are all the same number.
func filled(x *G.Node, v float64, shape ...int) *G.Node {
	all := dense.Of(x.Dtype(), slices.Repeat([]float64{v}, tensor.Shape(shape).TotalSize()), shape...)
	return G.NewTensor(x.Graph(), x.Dtype(), len(shape), G.WithShape(shape...), G.WithValue(all),
		G.WithName(fmt.Sprintf("constant all %v %v", v, shape)))
}

// checkFitting returns an error for a setting of an op on x that x's type cannot hold.
func checkFitting(op, name string, x *G.Node, v float64) error {
	if err := checkArgs(op, named("x"), G.Nodes{x}); err != nil {
		return err
	}
	if err := fitting(x.Dtype(), v); err != nil {
		return fmt.Errorf("graph: %s: %s: %w", op, name, err)
	}
	return nil
}

// An element is a row of the table: a function y = f(x) that is applied to every element. SiLU, GELUTanh, ReLUSquared
// and Softcap could be formulas of other ops, but those take longer and 2.5 to 3 times the memory (BenchmarkFormulas).
type element struct {
	f     kernel.Function
	reads side // the argument of its slope
}

// A side is the argument of the derivative of y = f(x): x or y.
type side int

const (
	readsX   side = iota
	readsY        // where the derivative is simpler in y
	isLinear      // neither: dx = f(dy), without a backward
)

var elements = map[string]element{
	"Abs":         {kernel.Abs, readsX},         // dx = dy⊙sign(x)
	"Log":         {kernel.Log, readsX},         // dx = dy/x
	"Exp":         {kernel.Exp, readsY},         // dx = dy⊙y
	"Tanh":        {kernel.Tanh, readsY},        // dx = dy⊙(1 − y²)
	"Sigmoid":     {kernel.Sigmoid, readsY},     // dx = dy⊙y⊙(1 − y)
	"LogSigmoid":  {kernel.LogSigmoid, readsX},  // dx = dy⊙sigmoid(−x)
	"ReLU":        {kernel.ReLU, readsY},        // dx = dy where y > 0, else 0
	"ReLUSquared": {kernel.ReLUSquared, readsX}, // dx = 2·dy⊙max(x, 0)
	"SiLU":        {kernel.SiLU, readsX},
	"GELU":        {kernel.GELU, readsX},
	"GELUTanh":    {kernel.GELUTanh, readsX},
	"Softcap":     {kernel.Softcap, readsY},    // dx = dy⊙(1 − (y/c)²)
	"Clamp":       {kernel.Clamp, readsX},      // dx = dy between the limits, else 0
	"Scale":       {kernel.Multiple, isLinear}, // dx = dy·c
}

// elementwise is the function of a row of the table. It is an op because Exp, Tanh and the others cannot be composed of
// other ops, and those that can are slower as formulas, as the table says.
type elementwise[F kernel.Float] struct {
	sameShape
	Name string
	C    kernel.Settings
}

func applyElementwise(name string, x *G.Node, settings ...float64) (*G.Node, error) {
	var c kernel.Settings
	copy(c[:], settings)
	return applyTyped(elementwise[float32]{Name: name, C: c}, elementwise[float64]{Name: name, C: c}, x)
}

func (o elementwise[F]) spec() spec { return spec{name: o.Name, args: named("x"), inPlace: first} }

func (o elementwise[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	kernel.Apply(elements[o.Name].f, o.C, dense.Floats[F](out), dense.Floats[F](in[0]))
	return nil
}

func (o elementwise[F]) backward(in G.Nodes, y, dy *G.Node) (G.Nodes, error) {
	reads := elements[o.Name].reads
	if reads == isLinear {
		return only(apply(o, dy))
	}
	known := in[0]
	if reads == readsY {
		known = y
	}
	return only(apply(elementwiseBackward[F]{Name: o.Name, C: o.C}, known, dy))
}

type elementwiseBackward[F kernel.Float] struct {
	sameShape
	isGradient
	Name string
	C    kernel.Settings
}

func (o elementwiseBackward[F]) spec() spec {
	return spec{name: o.Name + "Backward", args: named("known", "dy"), inPlace: second}
}

func (o elementwiseBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	kernel.Slope(elements[o.Name].f, o.C, dense.Floats[F](out), dense.Floats[F](in[0]), dense.Floats[F](in[1]))
	return nil
}
