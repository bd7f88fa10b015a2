package machine_test

import (
	"math"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"
	"attention/internal/golden"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The machine finds the first node that produced a NaN or an infinity, even if a later op has reused its memory.
// Infinities that hide scores do not count.
func TestFindNotFinite(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		g := G.NewGraph()
		x := input(g, "x", ramp(dt, 2, 2))
		weights := must(t)(graph.Softmax(must(t)(graph.MaskFill(x, mask.Causal{}))))
		exp := must(t)(graph.Exp(must(t)(graph.Add(x, weights))))
		grown := must(t)(graph.Scale(exp, 1e30))
		difference := G.Must(G.Sub(grown, grown))
		last := must(t)(graph.Scale(difference, 0.5))
		m, err := machine.New(last)
		require.NoError(t, err)
		for _, c := range []struct {
			x      []float64
			want   *G.Node
			reason string
		}{
			{x: []float64{1, 2, 3, 4}, reason: "all finite"},
			{x: []float64{1, 2, 1000, 4}, want: exp, reason: "e¹⁰⁰⁰ is above any float"},
			{x: []float64{60, 0, 0, 0}, want: map[tensor.Dtype]*G.Node{tensor.Float32: grown}[dt],
				reason: "10³⁰·e⁶¹ is above float32's largest"},
			{x: []float64{math.NaN(), 0, 0, 0}, want: x, reason: "an input that is not finite itself"},
			{x: []float64{0, 0, math.Inf(1), 0}, want: x, reason: "the same, infinite"},
			{x: []float64{1, 2, 3, 4}, reason: "finite again"},
		} {
			require.NoError(t, G.Let(x, golden.Dense(dt, c.x, 2, 2)))
			got, err := m.FindNotFinite()
			require.NoError(t, err)
			require.True(t, got == c.want, "%v, %s: got %v, want %v", dt, c.reason, got, c.want)
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

func TestFindNotFiniteOfAClosedMachine(t *testing.T) {
	m, err := machine.New(must(t)(graph.Softmax(input(G.NewGraph(), "x", ramp(tensor.Float64, 2)))))
	require.NoError(t, err)
	require.NoError(t, m.Close())
	_, err = m.FindNotFinite()
	require.EqualError(t, err, "machine: the machine is closed")
}
