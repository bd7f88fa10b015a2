package graph_test

import (
	"math"
	"runtime"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func mse(in G.Nodes) (*G.Node, error) { return graph.MSE(in[0], in[1]) }

// torch.nn.functional.mse_loss([1, 2, 4], [0, 4, 4]) is 5/3, its gradients ±2(x − y)/3.
func TestMSE(t *testing.T) {
	in := floats(of([]float64{1, 2, 4}), of([]float64{0, 4, 4}))
	for _, p := range tolerances {
		e := express(t, mse, in, p.dt)
		e.differentiate(t, in, array{v: []float64{3}}, p.dt)
		got := e.onOurs(t)
		near(t, "loss", array{v: []float64{5. / 3}}, got.out, p.tol)
		near(t, "dx", of([]float64{2, -4, 0}), got.grads[0], p.tol)
		near(t, "dy", of([]float64{-2, 4, 0}), got.grads[1], p.tol)
	}
}

// A sum of millions of float32 squares keeps float32's digits, and its bits do not
// depend on the number of processors.
func TestMSEOfManyElements(t *testing.T) {
	const n = 3_000_001
	x, y, want := zeros(n), zeros(n), 0.0
	for i := range n {
		x.v[i], y.v[i] = float64(float32(1+math.Sin(float64(i)))), float64(float32(math.Cos(float64(i))))
		want += (x.v[i] - y.v[i]) * (x.v[i] - y.v[i]) / n
	}
	e := express(t, mse, floats(x, y), tensor.Float32)
	got := e.onOurs(t).out
	require.InEpsilon(t, want, got.v[0], 1e-7)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	require.Equal(t, bits(got), bits(e.onOurs(t).out))
}

func TestMSEOfOtherShapesIsRefused(t *testing.T) {
	b := bench{G.NewGraph()}
	_, err := graph.MSE(b.f(2, 3), b.f(3, 2))
	require.EqualError(t, err, "graph: MSE: y: shape (3, 2), want (2, 3)")
}

func mseCases() []opCase {
	return []opCase{
		{name: "mse", op: func(in G.Nodes) (*G.Node, error) { return graph.MSE(in[0], in[1]) },
			want: func(in []array) array { return naiveMSE(in[0], in[1]) }, in: shapes(s{2, 3, 7}, s{2, 3, 7})},
		{name: "mse_scalars", op: func(in G.Nodes) (*G.Node, error) { return graph.MSE(in[0], in[1]) },
			want: func(in []array) array { return naiveMSE(in[0], in[1]) }, in: shapes(nil, nil)},
	}
}

func naiveMSE(x, y array) array {
	sum := 0.0
	for i, v := range x.v {
		sum += (v - y.v[i]) * (v - y.v[i])
	}
	return array{nil, []float64{sum / float64(len(x.v))}}
}
