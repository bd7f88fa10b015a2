package machine_test

import (
	"math"
	"testing"

	"attention/graph"
	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The first node that turned NaN or infinite is found, though its memory has long
// been used again; what came with an input or hides scores on purpose is not meant.
func TestFindNotFinite(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		g := G.NewGraph()
		x := input(g, "x", ramp(dt, 2, 2))
		weights := must(t)(graph.Softmax(must(t)(graph.CausalFill(x))))
		exp := must(t)(graph.Exp(must(t)(graph.Add(x, weights))))
		grown := must(t)(graph.Scale(exp, 1e30))
		difference := G.Must(G.Sub(grown, grown))
		last := must(t)(graph.Scale(difference, 0.5))
		m, err := machine.New(last)
		require.NoError(t, err)
		for _, c := range []struct {
			x    []float64
			want *G.Node
			says string
		}{
			{[]float64{1, 2, 3, 4}, nil, "all finite"},
			{[]float64{1, 2, 1000, 4}, exp, "e¹⁰⁰⁰ is above any float"},
			{[]float64{60, 0, 0, 0}, map[tensor.Dtype]*G.Node{tensor.Float32: grown}[dt], "10³⁰·e⁶¹ is above float32's largest"},
			{[]float64{math.NaN(), 0, 0, 0}, x, "an input that is not finite itself"},
			{[]float64{0, 0, math.Inf(1), 0}, x, "the same, infinite"},
			{[]float64{1, 2, 3, 4}, nil, "finite again"},
		} {
			v := tensor.New(tensor.WithShape(2, 2), tensor.WithBacking(c.x))
			if dt == tensor.Float32 {
				v = tensor.New(tensor.WithShape(2, 2), tensor.WithBacking([]float32{float32(c.x[0]), float32(c.x[1]), float32(c.x[2]), float32(c.x[3])}))
			}
			require.NoError(t, G.Let(x, v))
			got, err := m.FindNotFinite()
			require.NoError(t, err)
			require.True(t, got == c.want, "%v, %s: got %v, want %v", dt, c.says, got, c.want)
		}
	}
}

func TestFindNotFiniteOfAFailingRun(t *testing.T) {
	g := G.NewGraph()
	x := G.NewVector(g, tensor.Float64, G.WithShape(2), G.WithName("x"))
	m, err := machine.New(must(t)(graph.Softmax(x)))
	require.NoError(t, err)
	_, err = m.FindNotFinite()
	require.EqualError(t, err, `machine: input "x" has no value; bind one with gorgonia.Let`)
}
