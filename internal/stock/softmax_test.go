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

// softmaxes are cases with moderate numbers, for which Gorgonia is correct.
func softmaxes() (cases []stockCase) {
	for _, c := range []struct {
		shape tensor.Shape
		axis  []int
	}{
		{shape: tensor.Shape{7}},
		{shape: tensor.Shape{3, 5}},
		{shape: tensor.Shape{3, 5}, axis: []int{0}},
		{shape: tensor.Shape{3, 5}, axis: []int{1}},
		{shape: tensor.Shape{1, 5}},
		{shape: tensor.Shape{5, 1}, axis: []int{0}},
		{shape: tensor.Shape{5, 1}, axis: []int{1}},
		{shape: tensor.Shape{2, 3, 4}},
		{shape: tensor.Shape{2, 3, 4}, axis: []int{1}},
		{shape: tensor.Shape{2, 3, 4}, axis: []int{0}},
		{shape: tensor.Shape{2, 3, 4}, axis: []int{7}}, // 7 mod 3
		{shape: tensor.Shape{2, 3, 4, 5}},
		{shape: tensor.Shape{2, 3, 4, 5}, axis: []int{2}},
		{shape: tensor.Shape{65, 1030}},
	} {
		type function func(*G.Node, ...int) (*G.Node, error)
		for name, f := range map[string]function{"SoftMax": G.SoftMax, "LogSoftMax": G.LogSoftMax} {
			cases = append(cases, stockCase{
				name: fmt.Sprint(name, c.shape, c.axis), shapes: []tensor.Shape{c.shape}, by: stock.Kernel,
				build: func(in G.Nodes) (*G.Node, error) { return f(in[0], c.axis...) },
			})
		}
	}
	return cases
}

func TestSoftmax(t *testing.T) {
	checkAll(t, softmaxes())
}

// The gradient of a column is along the column, like the value; Gorgonia computes it along the rows of one element.
func TestSoftmaxOfColumn(t *testing.T) {
	c := stockCase{shapes: []tensor.Shape{{5, 1}}, build: func(in G.Nodes) (*G.Node, error) { return G.SoftMax(in[0]) }}
	y, grads, values := c.graph(t, tensor.Float64, asIs)
	p, up := tensors.Float64s(evaluate(t, y, values)), numbersFor(1, 5)
	sum, dot := 0.0, 0.0
	for i, v := range p {
		sum += v
		dot += v * up[i]
	}
	require.InDelta(t, 1, sum, 1e-14)
	for i, v := range tensors.Float64s(evaluate(t, grads[0], values)) {
		require.InDelta(t, p[i]*(up[i]-dot), v, 1e-14)
	}
}

// Each row is computed independently of the others.
func TestSoftmaxOfExtremeRows(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	x := []float64{0, 0, 0, 1000, 0, 0, -inf, -inf, -inf, -inf, 2, 2, nan, 1, 1, -1e9, 0, -1e9}
	third := 1. / 3
	for _, c := range []struct {
		build func(*G.Node, ...int) (*G.Node, error)
		want  []float64
	}{
		{build: G.SoftMax, want: []float64{
			third, third, third, 1, 0, 0, 0, 0, 0, 0, 0.5, 0.5, nan, nan, nan, 0, 1, 0,
		}},
		{build: G.LogSoftMax, want: []float64{
			math.Log(third), math.Log(third), math.Log(third), 0, -1000, -1000, -inf, -inf, -inf,
			-inf, -math.Ln2, -math.Ln2, nan, nan, nan, -1e9, 0, -1e9,
		}},
	} {
		for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
			g := G.NewGraph()
			in := G.NewMatrix(g, dt, G.WithShape(6, 3), G.WithName("x"))
			y := G.Must(c.build(in))
			values := map[*G.Node]G.Value{in: dense(dt, x, 6, 3)}
			up := G.NewMatrix(g, dt, G.WithShape(6, 3), G.WithName("up"))
			values[up] = dense(dt, numbersFor(1, 18), 6, 3)
			dx, err := G.Backpropagate(G.Nodes{y}, G.Nodes{up}, G.Nodes{in})
			require.NoError(t, err)
			got, grad := tensors.Float64s(evaluate(t, y, values)), tensors.Float64s(evaluate(t, dx[0], values))
			for i, want := range c.want {
				if math.IsNaN(want) || math.IsInf(want, 0) {
					require.Equal(t, fmt.Sprint(want), fmt.Sprint(got[i]), "element %d", i)
				} else {
					require.InDelta(t, want, got[i], 1e-6*(1+math.Abs(want)), "element %d", i)
				}
				require.Equal(t, i/3 == 4, math.IsNaN(grad[i]), "gradient of element %d: %v", i, grad[i])
				if i/3 == 2 {
					require.Zero(t, grad[i], "gradient of a row of −∞")
				}
			}
		}
	}
}

// The gradient is computed without the input.
func TestSoftmaxGradientDoesNotReadInput(t *testing.T) {
	c := stockCase{shapes: []tensor.Shape{{3, 5}}, build: func(in G.Nodes) (*G.Node, error) { return G.SoftMax(in[0]) }}
	y, grads, _ := c.graph(t, tensor.Float32, asIs)
	read := stock.Of(grads[0], asBuilt{}).Inputs()
	require.Len(t, read, 2)
	require.Equal(t, y, read[0])
}
