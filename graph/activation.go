package graph

import (
	"fmt"
	"math"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// GELU is x·Φ(x), element by element, with Φ the normal distribution (Hendrycks and
// Gimpel 2016; torch.nn.functional.gelu).
func GELU(x *G.Node) (*G.Node, error) { return apply(activation{Name: "GELU"}, x) }

// GELUTanh is ½x·(1 + tanh(√(2/π)·(x + 0.044715·x³))), element by element: GELU as
// GPT-2 approximates it (torch's gelu with approximate="tanh", also named gelu_new).
func GELUTanh(x *G.Node) (*G.Node, error) { return apply(activation{Name: "GELUTanh"}, x) }

// Sigmoid is 1/(1 + e^−x), element by element (torch.sigmoid).
func Sigmoid(x *G.Node) (*G.Node, error) { return apply(activation{Name: "Sigmoid"}, x) }

// SiLU is x/(1 + e^−x), element by element, also known as swish
// (torch.nn.functional.silu).
func SiLU(x *G.Node) (*G.Node, error) { return apply(activation{Name: "SiLU"}, x) }

// Softcap is cap·tanh(x/cap), element by element: about x near 0, and never beyond
// ±cap (Gemma Team 2024). cap is above 0.
func Softcap(x *G.Node, cap float64) (*G.Node, error) {
	if !(cap > 0) || math.IsInf(cap, 1) {
		return nil, fmt.Errorf("graph: Softcap: cap: got %v, want a finite number above 0", cap)
	}
	return apply(activation{Name: "Softcap", Cap: cap}, x)
}

// activation is a function of every element on its own.
type activation struct {
	Name string
	Cap  float64 // of Softcap
}

func (o activation) spec() (string, []arg) { return o.Name, []arg{{name: "x"}} }

func (activation) inPlace() int { return 0 }

func (activation) shape(in []tensor.Shape) (tensor.Shape, error) { return in[0].Clone(), nil }

func (o activation) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, activationForward[float32], activationForward[float64])(o, out, in)
}

func activationForward[F kernel.Float](o activation, out *tensor.Dense, in []*tensor.Dense) error {
	y, x := floats[F](out), floats[F](in[0])
	switch o.Name {
	case "GELU":
		kernel.GELU(y, x)
	case "GELUTanh":
		kernel.GELUTanh(y, x)
	case "Sigmoid":
		kernel.Sigmoid(y, x)
	case "SiLU":
		kernel.SiLU(y, x)
	case "Softcap":
		kernel.Softcap(y, x, o.Cap)
	}
	return nil
}

// y = f(x):  dx = dy⊙f′(x), from x, or from y where the slope is plain there: that is
// y·(1 − y) for Sigmoid and 1 − (y/cap)² for Softcap.
func (o activation) backward(in G.Nodes, y, dy *G.Node) (G.Nodes, error) {
	known := in[0]
	if o.Name == "Sigmoid" || o.Name == "Softcap" {
		known = y
	}
	dx, err := apply(activationBackward(o), known, dy)
	return G.Nodes{dx}, err
}

type activationBackward activation

func (o activationBackward) spec() (string, []arg) {
	return o.Name + "Backward", []arg{{name: "known"}, {name: "dy"}}
}

func (activationBackward) inPlace() int { return 1 }

func (activationBackward) shape(in []tensor.Shape) (tensor.Shape, error) { return in[0].Clone(), nil }

func (o activationBackward) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, activationBackwardForward[float32], activationBackwardForward[float64])(o, out, in)
}

func activationBackwardForward[F kernel.Float](o activationBackward, out *tensor.Dense, in []*tensor.Dense) error {
	dx, known, dy := floats[F](out), floats[F](in[0]), floats[F](in[1])
	switch o.Name {
	case "GELU":
		kernel.GELUBackward(dx, known, dy)
	case "GELUTanh":
		kernel.GELUTanhBackward(dx, known, dy)
	case "Sigmoid":
		kernel.SigmoidBackward(dx, known, dy)
	case "SiLU":
		kernel.SiLUBackward(dx, known, dy)
	case "Softcap":
		kernel.SoftcapBackward(dx, known, dy, o.Cap)
	}
	return nil
}

func (o activationBackward) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return noSecond(o) }
