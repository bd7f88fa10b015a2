package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// biased adds ALiBi's bias, written out, to scores (H, T, S).
func biased(c graph.ALiBiConfig) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) {
		bias, err := graph.ALiBi(in[0].Graph(), in[0].Dtype(), c)
		if err != nil {
			return nil, err
		}
		bias, err = graph.ExpandRelativeBias(bias, c.T, c.S)
		if err != nil {
			return nil, err
		}
		return graph.Add(in[0], bias)
	}
}

// naiveALiBi takes its slopes from a list: the paper's slopes for 8 heads; for 6 heads, the four slopes of 4 heads,
// then the first and the third slope of 8 heads.
func naiveALiBi(c graph.ALiBiConfig) func(in []array) array {
	slopes := map[int][]float64{
		1: {1. / 256}, 6: {1. / 4, 1. / 16, 1. / 64, 1. / 256, 1. / 2, 1. / 8},
		8: {1. / 2, 1. / 4, 1. / 8, 1. / 16, 1. / 32, 1. / 64, 1. / 128, 1. / 256},
	}[c.Heads]
	return func(in []array) array {
		y := in[0].like()
		y.shape = in[0].shape
		y.v = append([]float64{}, in[0].v...)
		for h, slope := range slopes {
			for t := range c.T {
				for s := range c.S {
					y.v[y.i(h, t, s)] -= slope * math.Abs(float64(t+c.Offset-s))
				}
			}
		}
		return y
	}
}

func alibiCases() []opCase {
	var cases []opCase
	for name, c := range map[string]graph.ALiBiConfig{
		"alibi": {Heads: 6, T: 5, S: 7, Offset: 2}, "alibi_8": {Heads: 8, T: 7, S: 5},
		"alibi_1": {Heads: 1, T: 1, S: 11, Offset: 10},
	} {
		cases = append(cases, opCase{name: name, op: biased(c), want: naiveALiBi(c), in: shapes(s{c.Heads, c.T, c.S})})
	}
	return cases
}

// alibiSlopes reads the slopes off the biases of one query a step behind its key.
func alibiSlopes(t *testing.T, heads int) []float64 {
	n, err := graph.ALiBi(G.NewGraph(), tensor.Float64, graph.ALiBiConfig{Heads: heads, T: 1, S: 1, Offset: 1})
	require.NoError(t, err)
	slopes := valueOf(t, n).v
	for i := range slopes {
		slopes[i] = -slopes[i]
	}
	return slopes
}

func TestALiBiSlopes(t *testing.T) {
	file := golden.Load(t, "torch/positions.safetensors")
	for heads := 1; heads < 34; heads++ {
		golden.Close(t, fmt.Sprint(heads), file.Float64(fmt.Sprintf("slopes.%d", heads)), alibiSlopes(t, heads), 0,
			1e-14)
	}
	require.Equal(t, []float64{1. / 2, 1. / 4, 1. / 8, 1. / 16, 1. / 32, 1. / 64, 1. / 128, 1. / 256},
		alibiSlopes(t, 8))
}

// Behind a causal mask, ALiBi of any later offset gives the same weights.
func TestALiBiOfALaterOffset(t *testing.T) {
	const T = 7
	scores := normal(rand.New(rand.NewPCG(1, 2)), 3, T, T)
	weights := func(offset int) array {
		return compute(t, func(in G.Nodes) (*G.Node, error) {
			x, err := biased(graph.ALiBiConfig{Heads: 3, T: T, S: T, Offset: offset})(in)
			require.NoError(t, err)
			x, err = fillBy(mask.Causal{})(x)
			require.NoError(t, err)
			return graph.Softmax(x)
		}, scores)
	}
	want := weights(0)
	near(t, "the least", want, weights(T-1), 1e-12)
	near(t, "a later", want, weights(1000), 1e-12)
	require.Greater(t, math.Abs(want.at(0, T-1, 0)-weights(-T).at(0, T-1, 0)), 1e-3, "an earlier")
}

// Biases of equal shape with different contents are different nodes.
func TestALiBisAreTold(t *testing.T) {
	g := G.NewGraph()
	made := map[*G.Node]graph.ALiBiConfig{}
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		for _, c := range []graph.ALiBiConfig{
			{Heads: 2, T: 3, S: 5}, {Heads: 2, T: 5, S: 3}, {Heads: 2, T: 4, S: 4}, {Heads: 2, T: 3, S: 5,
				Offset: 2}, {Heads: 3, T: 3, S: 5},
		} {
			n, err := graph.ALiBi(g, dt, c)
			require.NoError(t, err)
			require.Equal(t, dt, n.Dtype())
			require.NotContains(t, made, n, "%+v", c)
			made[n] = c
			again, err := graph.ALiBi(g, dt, c)
			require.NoError(t, err)
			require.Same(t, n, again)
		}
	}
	for n, c := range made {
		want := naiveALiBi(graph.ALiBiConfig{Heads: 1, T: c.T, S: c.S, Offset: c.Offset})([]array{zeros(1, c.T, c.S)})
		last := valueOf(t, n).v[(c.Heads-1)*(c.T+c.S-1):] // of the last head
		slope := alibiSlopes(t, c.Heads)[c.Heads-1]
		require.InDelta(t, want.at(0, 0, c.S-1)*256*slope, last[0], 1e-6, "%+v", c)
	}
}

func TestWrongALiBisAreRefused(t *testing.T) {
	g := G.NewGraph()
	for _, c := range []struct {
		g      *G.ExprGraph
		dt     tensor.Dtype
		config graph.ALiBiConfig
		want   string
	}{
		{g: nil, dt: tensor.Float32, config: graph.ALiBiConfig{Heads: 1, T: 1, S: 1}, want: "g: got nil, want a graph"},
		{g: g, dt: tensor.Int, config: graph.ALiBiConfig{Heads: 1, T: 1, S: 1}, want: "dt: got int, want float32 or float64"},
		{g: g, dt: tensor.Float32, config: graph.ALiBiConfig{T: 1, S: 1}, want: "heads: got 0, want at least 1"},
		{g: g, dt: tensor.Float32, config: graph.ALiBiConfig{Heads: -3, T: 1, S: 1}, want: "heads: got -3, want at least 1"},
		{g: g, dt: tensor.Float32, config: graph.ALiBiConfig{Heads: 1, S: 1}, want: "lengths: got T=0, S=1, want at least 1"},
	} {
		n, err := graph.ALiBi(c.g, c.dt, c.config)
		require.EqualError(t, err, "graph: ALiBi: "+c.want)
		require.Nil(t, n)
	}
}
