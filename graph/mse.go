package graph

import (
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// MSE returns the mean squared error of x and y of one shape, a scalar
// (torch.nn.functional.mse_loss):
//
//	Σ (x − y)² / n
//
// over all n elements, summed in float64. Gradients flow into both. As a loss it is exact
// where gorgonia.Mean of gorgonia.Square is not: that adds one number after the other in
// the type of x, and in float32 is 1 % off at 9 million elements.
func MSE(x, y *G.Node) (*G.Node, error) {
	return applyTyped(mse[float32]{}, mse[float64]{}, x, y)
}

type mse[F kernel.Float] struct{}

func (mse[F]) spec() (string, []arg) { return "MSE", named("x", "y") }

func (mse[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	return tensor.ScalarShape(), checkSameShape("MSE", "y", in)
}

// The elements are summed by blocks, the same for any number of processors, and then
// the blocks' sums pairwise.
func (mse[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	x, y := floats[F](in[0]), floats[F](in[1])
	sums := make([]float64, (len(x)+mseBlock-1)/mseBlock)
	kernel.Parallel(len(sums), 4, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			from, to := i*mseBlock, min((i+1)*mseBlock, len(x))
			sums[i] = squaredDistance(x[from:to], y[from:to])
		}
	})
	floats[F](out)[0] = F(pairwiseTotal(sums) / float64(len(x)))
	return nil
}

const mseBlock = 1 << 12

// squaredDistance returns Σ (x − y)², in four sums that do not wait for each other.
func squaredDistance[F kernel.Float](x, y []F) float64 {
	var s [4]float64
	y = y[:len(x)]
	for len(x) >= 4 {
		for i := range s {
			d := float64(x[i]) - float64(y[i])
			s[i] += d * d
		}
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		d := float64(v) - float64(y[i])
		s[i] += d * d
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

func pairwiseTotal(x []float64) float64 {
	if len(x) == 1 {
		return x[0]
	}
	half := len(x) / 2
	return pairwiseTotal(x[:half]) + pairwiseTotal(x[half:])
}

// loss = Σ (x − y)²/n:  dx = dloss·2(x − y)/n, dy = −dx.
func (mse[F]) backward(in G.Nodes, _, dloss *G.Node) (G.Nodes, error) {
	dx, err := apply(mseBackward[F]{}, in[0], in[1], dloss)
	if err != nil {
		return nil, err
	}
	dy, err := Scale(dx, -1)
	return G.Nodes{dx, dy}, err
}

type mseBackward[F kernel.Float] struct {
	sameShape
	intoFirst
	isGradient
}

func (mseBackward[F]) spec() (string, []arg) { return "MSEBackward", named("x", "y", "dloss") }

func (mseBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	dx, x, y := floats[F](out), floats[F](in[0]), floats[F](in[1])
	c := 2 * float64(floats[F](in[2])[0]) / float64(len(x))
	kernel.Parallel(len(dx), 1<<14, func(lo, hi int) {
		dx, x, y := dx[lo:hi], x[lo:hi], y[lo:hi]
		for i, v := range x {
			dx[i] = F(c * (float64(v) - float64(y[i])))
		}
	})
	return nil
}
