package stock_test

import (
	"fmt"
	"math"
	"testing"

	"attention/internal/stock"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func betweens() (cases []stockCase) {
	for _, s := range []tensor.Shape{{5}, {1}, {3, 4}, {1, 4}, {2, 3, 4}, {2, 1, 3, 2}, {70, 300}} {
		for name, f := range map[string]func(x, y *G.Node) (*G.Node, error){"Min": G.MinBetween, "Max": G.MaxBetween} {
			cases = append(cases, stockCase{
				name: fmt.Sprint(name, s), shapes: []tensor.Shape{s, s}, by: stock.Loop,
				build: func(in G.Nodes) (*G.Node, error) { return f(in[0], in[1]) },
			})
		}
	}
	return cases
}

func TestBetween(t *testing.T) {
	for _, c := range betweens() {
		c.check(t)
	}
}

func TestBetweenAllocatesNothing(t *testing.T) {
	for _, c := range betweens() {
		y, _, values := c.graph(t, tensor.Float32, asIs)
		requireNoAllocations(t, y, values)
	}
}

func TestBetweenOfNaN(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	g := G.NewGraph()
	x := G.NewVector(g, tensor.Float32, G.WithShape(4), G.WithName("x"))
	y := G.NewVector(g, tensor.Float32, G.WithShape(4), G.WithName("y"))
	values := map[*G.Node]G.Value{
		x: dense(tensor.Float32, []float64{nan, 1, inf, -inf}, 4),
		y: dense(tensor.Float32, []float64{1, nan, 2, 3}, 4),
	}
	low := numbersOf(evaluate(t, G.Must(G.MinBetween(x, y)), values))
	high := numbersOf(evaluate(t, G.Must(G.MaxBetween(x, y)), values))
	require.Equal(t, "[NaN NaN 2 -Inf]", fmt.Sprint(low), "as torch.minimum")
	require.Equal(t, "[NaN NaN +Inf 3]", fmt.Sprint(high), "as torch.maximum")
}
