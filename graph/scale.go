package graph

import (
	"fmt"
	"math"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Scale is x·factor; −∞ stays −∞ for a factor above 0.
func Scale(x *G.Node, factor float64) (*G.Node, error) {
	if math.IsNaN(factor) || math.IsInf(factor, 0) {
		return nil, fmt.Errorf("graph: Scale: factor: got %v, want a finite number", factor)
	}
	return apply(scale{factor}, x)
}

type scale struct{ Factor float64 }

func (scale) spec() (string, []arg) { return "Scale", []arg{{name: "x"}} }

func (scale) inPlace() int { return 0 }

func (scale) shape(in []tensor.Shape) (tensor.Shape, error) { return in[0].Clone(), nil }

func (o scale) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, scaleForward[float32], scaleForward[float64])(o, out, in)
}

func scaleForward[F kernel.Float](o scale, out *tensor.Dense, in []*tensor.Dense) error {
	kernel.Scale(floats[F](out), floats[F](in[0]), F(o.Factor))
	return nil
}

// y = x·factor:  dx = dy·factor.
func (o scale) backward(_ G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	dx, err := Scale(dy, o.Factor)
	return G.Nodes{dx}, err
}
