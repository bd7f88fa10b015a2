package graph

import (
	"fmt"
	"math"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Exp returns eˣ, element by element (torch.exp).
func Exp(x *G.Node) (*G.Node, error) { return applyElementwise("Exp", settings{}, x) }

// Tanh returns the hyperbolic tangent, element by element (torch.tanh).
func Tanh(x *G.Node) (*G.Node, error) { return applyElementwise("Tanh", settings{}, x) }

// Sigmoid returns 1/(1 + e^−x), element by element (torch.sigmoid).
func Sigmoid(x *G.Node) (*G.Node, error) { return applyElementwise("Sigmoid", settings{}, x) }

// ReLU returns max(x, 0), element by element (torch.relu).
func ReLU(x *G.Node) (*G.Node, error) { return applyElementwise("ReLU", settings{}, x) }

// SiLU returns x/(1 + e^−x), element by element, also known as swish
// (torch.nn.functional.silu).
func SiLU(x *G.Node) (*G.Node, error) { return applyElementwise("SiLU", settings{}, x) }

// GELU returns x·Φ(x), element by element, with Φ the normal distribution (Hendrycks and
// Gimpel 2016; torch.nn.functional.gelu).
func GELU(x *G.Node) (*G.Node, error) { return applyElementwise("GELU", settings{}, x) }

// GELUTanh returns ½x·(1 + tanh(√(2/π)·(x + 0.044715·x³))), element by element: GELU as
// GPT-2 approximates it (torch's gelu with approximate="tanh", also named gelu_new).
func GELUTanh(x *G.Node) (*G.Node, error) { return applyElementwise("GELUTanh", settings{}, x) }

// Softcap returns cap·tanh(x/cap), element by element: about x near 0, and never beyond
// ±cap (Gemma Team 2024). cap is above 0.
func Softcap(x *G.Node, cap float64) (*G.Node, error) {
	if !(cap > 0) || math.IsInf(cap, 1) {
		return nil, fmt.Errorf("graph: Softcap: cap: got %v, want a finite number above 0", cap)
	}
	if err := checkFitting("Softcap", "cap", x, cap); err != nil {
		return nil, err
	}
	return applyElementwise("Softcap", settings{cap}, x)
}

// Scale returns x·factor; −∞ stays −∞ for a factor above 0.
func Scale(x *G.Node, factor float64) (*G.Node, error) {
	if math.IsNaN(factor) || math.IsInf(factor, 0) {
		return nil, fmt.Errorf("graph: Scale: factor: got %v, want a finite number", factor)
	}
	if factor != 0 {
		if err := checkFitting("Scale", "factor", x, factor); err != nil {
			return nil, err
		}
	}
	return applyElementwise("Scale", settings{factor}, x)
}

// Clamp returns x, but no less than low and no more than high, element by element
// (torch.clamp). math.Inf is no limit. Beyond a limit it passes no gradient.
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
	return applyElementwise("Clamp", settings{low, high}, x)
}

// checkFitting refuses a setting of an op on x that does not fit x's type.
func checkFitting(op, name string, x *G.Node, v float64) error {
	if err := checkArgs(op, named("x"), G.Nodes{x}); err != nil {
		return err
	}
	if err := fitting(x.Dtype(), v); err != nil {
		return fmt.Errorf("graph: %s: %s: %w", op, name, err)
	}
	return nil
}

// An element is a row of the table: a function y = f(x) of every element on its own, with
// settings c for those that have some.
type element[F kernel.Float] struct {
	forward  func(y, x []F, c settings)          // y may be x
	backward func(dx, known, dy []F, c settings) // dx = dy⊙f′; dx may be dy
	reads    side                                // what backward's known is
}

// settings are the numbers of an element-wise function: Clamp's two limits, or one number.
type settings [2]float64

// A side of y = f(x) is what a derivative is computed from.
type side int

const (
	readsX   side = iota
	readsY        // where the derivative is simpler in y
	isLinear      // neither: dx = f(dy), without a backward
)

// elementTable returns the table.
func elementTable[F kernel.Float]() map[string]*element[F] {
	return map[string]*element[F]{
		"Exp":      {plain(kernel.Exp[F]), slope(kernel.Mul[F]), readsY},                 // dx = dy⊙y
		"Tanh":     {plain(kernel.Tanh[F]), slope(kernel.TanhBackward[F]), readsY},       // dx = dy⊙(1 − y²)
		"Sigmoid":  {plain(kernel.Sigmoid[F]), slope(kernel.SigmoidBackward[F]), readsY}, // dx = dy⊙y⊙(1 − y)
		"ReLU":     {plain(kernel.ReLU[F]), slope(kernel.ReLUBackward[F]), readsY},       // dx = dy where y > 0, else 0
		"SiLU":     {plain(kernel.SiLU[F]), slope(kernel.SiLUBackward[F]), readsX},
		"GELU":     {plain(kernel.GELU[F]), slope(kernel.GELUBackward[F]), readsX},
		"GELUTanh": {plain(kernel.GELUTanh[F]), slope(kernel.GELUTanhBackward[F]), readsX},
		"Softcap":  {softcap[F], softcapBackward[F], readsY}, // dx = dy⊙(1 − (y/c)²)
		"Clamp":    {clamp[F], clampBackward[F], readsX},     // dx = dy within the limits, else 0
		"Scale":    {scale[F], nil, isLinear},                // dx = dy·c
	}
}

var elements32, elements64 = elementTable[float32](), elementTable[float64]()

func elementOf[F kernel.Float](name string) *element[F] {
	if e, ok := any(elements32[name]).(*element[F]); ok {
		return e
	}
	return any(elements64[name]).(*element[F])
}

// plain is a forward without a setting.
func plain[F kernel.Float](f func(y, x []F)) func(y, x []F, c settings) {
	return func(y, x []F, _ settings) { f(y, x) }
}

// slope is a backward without a setting.
func slope[F kernel.Float](f func(dx, known, dy []F)) func(dx, known, dy []F, c settings) {
	return func(dx, known, dy []F, _ settings) { f(dx, known, dy) }
}

func scale[F kernel.Float](y, x []F, c settings) { kernel.Scale(y, x, F(c[0])) }

func softcap[F kernel.Float](y, x []F, c settings) { kernel.Softcap(y, x, c[0]) }

func softcapBackward[F kernel.Float](dx, y, dy []F, c settings) {
	kernel.SoftcapBackward(dx, y, dy, c[0])
}

func clamp[F kernel.Float](y, x []F, c settings) { kernel.Clamp(y, x, F(c[0]), F(c[1])) }

func clampBackward[F kernel.Float](dx, x, dy []F, c settings) {
	kernel.ClampBackward(dx, x, dy, F(c[0]), F(c[1]))
}

// elementwise is the op of a row.
type elementwise[F kernel.Float] struct {
	sameShape
	intoFirst
	Name string
	C    settings
}

func applyElementwise(name string, c settings, x *G.Node) (*G.Node, error) {
	return applyTyped(elementwise[float32]{Name: name, C: c}, elementwise[float64]{Name: name, C: c}, x)
}

func (o elementwise[F]) spec() (string, []arg) { return o.Name, named("x") }

func (o elementwise[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	elementOf[F](o.Name).forward(dense.Floats[F](out), dense.Floats[F](in[0]), o.C)
	return nil
}

func (o elementwise[F]) backward(in G.Nodes, y, dy *G.Node) (G.Nodes, error) {
	switch elementOf[F](o.Name).reads {
	case readsX:
		return only(apply(elementwiseBackward[F]{Name: o.Name, C: o.C}, in[0], dy))
	case readsY:
		return only(apply(elementwiseBackward[F]{Name: o.Name, C: o.C}, y, dy))
	}
	return only(apply(o, dy))
}

type elementwiseBackward[F kernel.Float] struct {
	sameShape
	intoSecond
	isGradient
	Name string
	C    settings
}

func (o elementwiseBackward[F]) spec() (string, []arg) {
	return o.Name + "Backward", named("known", "dy")
}

func (o elementwiseBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	elementOf[F](o.Name).backward(dense.Floats[F](out), dense.Floats[F](in[0]), dense.Floats[F](in[1]), o.C)
	return nil
}
