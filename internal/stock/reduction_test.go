package stock_test

import (
	"fmt"
	"math"
	"testing"

	tensors "attention/internal/dense"
	"attention/internal/stock"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// along returns the naive reduction of a shape along axes.
func along(shape tensor.Shape, axes []int, from float64, f func(x, y float64) float64) func(in [][]float64) []float64 {
	reduced := make([]bool, len(shape))
	n := shape.TotalSize()
	for _, axis := range axes {
		reduced[axis] = true
		n /= shape[axis]
	}
	return func(in [][]float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = from
		}
		for i, v := range in[0] {
			to, step := 0, 1
			for axis := len(shape) - 1; axis >= 0; axis-- {
				if !reduced[axis] {
					to += i % shape[axis] * step
					step *= shape[axis]
				}
				i /= shape[axis]
			}
			out[to] = f(out[to], v)
		}
		return out
	}
}

// reductions returns the sums and the maxima of shapes with one to four axes, along any of the axes.
func reductions() (cases []stockCase) {
	for _, shape := range []tensor.Shape{
		{5}, {1}, {3, 4}, {1, 4}, {3, 1}, {1, 1}, {70, 300}, {2, 3, 4}, {2, 1, 3},
		{2, 3, 4, 5}, {2, 1, 3, 2}, {1, 1, 1, 1}, {2, 40, 3, 50},
	} {
		for mask := 1; mask < 1<<len(shape); mask++ {
			var axes []int
			for axis := range shape {
				if mask>>axis&1 == 1 {
					axes = append(axes, axis)
				}
			}
			shapes := []tensor.Shape{shape}
			cases = append(cases, stockCase{
				name: fmt.Sprint("Sum", shape, axes), shapes: shapes, noGrad: true, by: stock.Kernel,
				build: func(in G.Nodes) (*G.Node, error) { return G.Sum(in[0], axes...) },
				naive: along(shape, axes, 0, func(x, y float64) float64 { return x + y }),
			}, stockCase{
				name: fmt.Sprint("Max", shape, axes), shapes: shapes, noGrad: true, by: stock.Kernel,
				build: func(in G.Nodes) (*G.Node, error) { return G.Max(in[0], axes...) },
				naive: along(shape, axes, math.Inf(-1), math.Max),
			})
		}
	}
	return cases
}

func TestReduction(t *testing.T) {
	checkAll(t, reductions())
}

// Cases in which Gorgonia's machine is wrong or less accurate: the mean of many float32, and sums of four axes over the
// third.
func TestSumsAreAccurate(t *testing.T) {
	const n = 2 * 1024 * 768
	g := G.NewGraph()
	x := G.NewTensor(g, tensor.Float32, 3, G.WithShape(2, 1024, 768), G.WithName("x"))
	for name, y := range map[string]*G.Node{
		"mean": G.Must(G.Mean(G.Must(G.Square(x)))), "sum": G.Must(G.Sum(G.Must(G.Square(x)))),
	} {
		v := numbersFor(3, n)
		exact, all := 0.0, 1.0
		for _, x := range v {
			exact += float64(float32(x) * float32(x))
		}
		if name == "mean" {
			all = n
		}
		got := tensors.Float64s(evaluate(t, y, map[*G.Node]G.Value{x: dense(tensor.Float32, v, 2, 1024, 768)}))[0]
		require.InDelta(t, exact/all, got, 0x1p-23*math.Log2(n)*exact/all, "the bound of pairwise summation")
		require.InEpsilon(t, exact/all, got, 1e-6, name)
	}
}

func TestMaxOfNaN(t *testing.T) {
	g := G.NewGraph()
	x := G.NewMatrix(g, tensor.Float64, G.WithShape(2, 3), G.WithName("x"))
	inf := math.Inf(1)
	v := dense(tensor.Float64, []float64{1, math.NaN(), 3, -inf, -inf, -inf}, 2, 3)
	got := tensors.Float64s(evaluate(t, G.Must(G.Max(x, 1)), map[*G.Node]G.Value{x: v}))
	require.True(t, math.IsNaN(got[0]), "got %v, want NaN as in torch", got[0])
	require.Equal(t, -inf, got[1])
}

// An axis that is named twice is left to Gorgonia.
func TestReductionAlongAnAxisTwice(t *testing.T) {
	x := G.NewMatrix(G.NewGraph(), tensor.Float64, G.WithShape(2, 3), G.WithName("x"))
	require.Nil(t, stock.Of(G.Must(G.Sum(x, 1, 1)), asBuilt{}))
}
