package graph

import (
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// ReLU is max(x, 0), element by element (torch.relu).
func ReLU(x *G.Node) (*G.Node, error) { return apply(relu{}, x) }

type relu struct{}

func (relu) spec() (string, []arg) { return "ReLU", []arg{{name: "x"}} }

func (relu) inPlace() int { return 0 }

func (relu) shape(in []tensor.Shape) (tensor.Shape, error) { return in[0].Clone(), nil }

func (relu) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, reluForward[float32], reluForward[float64])(out, in)
}

func reluForward[F kernel.Float](out *tensor.Dense, in []*tensor.Dense) error {
	y, x := floats[F](out), floats[F](in[0])
	kernel.Parallel(len(y), reluGrain, func(lo, hi int) {
		x := x[lo:hi]
		for i := range y[lo:hi] {
			y[lo+i] = max(x[i], 0)
		}
	})
	return nil
}

// reluGrain is how many elements are worth a goroutine's while.
const reluGrain = 1 << 15

// y = max(x, 0):  dx = dy where y > 0, else 0.
func (relu) backward(_ G.Nodes, y, dy *G.Node) (G.Nodes, error) {
	dx, err := apply(reluBackward{}, y, dy)
	return G.Nodes{dx}, err
}

type reluBackward struct{}

func (reluBackward) spec() (string, []arg) {
	return "ReLUBackward", []arg{{name: "y"}, {name: "dy"}}
}

func (reluBackward) inPlace() int { return 1 }

func (reluBackward) shape(in []tensor.Shape) (tensor.Shape, error) { return in[0].Clone(), nil }

func (reluBackward) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, reluBackwardForward[float32], reluBackwardForward[float64])(out, in)
}

func reluBackwardForward[F kernel.Float](out *tensor.Dense, in []*tensor.Dense) error {
	dx, y, dy := floats[F](out), floats[F](in[0]), floats[F](in[1])
	kernel.Parallel(len(dx), reluGrain, func(lo, hi int) {
		dx, y, dy := dx[lo:hi], y[lo:hi], dy[lo:hi]
		for i := range dx {
			g := dy[i]
			if y[i] <= 0 {
				g = 0
			}
			dx[i] = g
		}
	})
	return nil
}

func (o reluBackward) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return noSecond(o) }
