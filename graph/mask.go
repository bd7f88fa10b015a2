package graph

import (
	"math"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// CausalFill hides the keys after each query: −∞ above the diagonal of scores
// (…, T, T), before the softmax.
func CausalFill(scores *G.Node) (*G.Node, error) {
	return apply(triangle{Hidden: math.Inf(-1)}, scores)
}

// Tril keeps the lower triangle of x (…, T, T) and puts 0 above it (torch.tril).
func Tril(x *G.Node) (*G.Node, error) { return apply(triangle{Hidden: 0}, x) }

// triangle puts Hidden above the diagonal.
type triangle struct{ Hidden float64 }

func (o triangle) spec() (string, []arg) {
	if o.Hidden == 0 {
		return "Tril", []arg{{name: "x"}}
	}
	return "CausalFill", []arg{{name: "scores"}}
}

func (triangle) inPlace() int { return 0 }

func (o triangle) shape(in []tensor.Shape) (tensor.Shape, error) {
	x := in[0]
	if n := x.Dims(); n < 2 || x[n-2] != x[n-1] {
		name, args := o.spec()
		return nil, &ShapeError{name, args[0].name, x, "(…, T, T)"}
	}
	return x.Clone(), nil
}

func (o triangle) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, triangleForward[float32], triangleForward[float64])(o, out, in)
}

func triangleForward[F kernel.Float](o triangle, out *tensor.Dense, in []*tensor.Dense) error {
	x, y, n := floats[F](in[0]), floats[F](out), last(in[0].Shape())
	hidden := F(o.Hidden)
	for lo, t := 0, 0; lo < len(x); lo, t = lo+n, (t+1)%n {
		copy(y[lo:lo+t+1], x[lo:])
		for i := lo + t + 1; i < lo+n; i++ {
			y[i] = hidden
		}
	}
	return nil
}

// y = x on and below the diagonal:  dx = tril(dy).
func (o triangle) backward(_ G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	dx, err := Tril(dy)
	return G.Nodes{dx}, err
}
