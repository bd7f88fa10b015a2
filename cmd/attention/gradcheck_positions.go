package main

import (
	"slices"

	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// positionOps are the ops that know positions: rotations, sinusoids, relative biases.
func positionOps() []gradcheckCase { return slices.Concat(ropeOps(), sinusoidalOps(), biasOps()) }

// placed checks an op of x and its positions; no positions are nil.
func placed(covers, about string, op func(x, positions *G.Node) (*G.Node, error), x []int, positions []int, shape ...int) gradcheckCase {
	return opCase(covers, about, func(g *checkedGraph) (*G.Node, error) {
		if positions == nil {
			return op(g.input("x", x...), nil)
		}
		return op(g.input("x", x...), g.ids("positions", positions, shape...))
	})
}

func ropeOps() []gradcheckCase {
	rope := func(about string, c graph.RoPEConfig, x []int, positions []int, shape ...int) gradcheckCase {
		op := func(x, positions *G.Node) (*G.Node, error) { return graph.RoPE(x, positions, c) }
		return placed("RoPE", about, op, x, positions, shape...)
	}
	return []gradcheckCase{
		rope("2-D", graph.RoPEConfig{}, []int{5, 6}, nil),
		rope("three heads", graph.RoPEConfig{Heads: 3}, []int{2, 5, 6}, nil),
		rope("three heads, a part of each", graph.RoPEConfig{Heads: 3, Dims: 4}, []int{2, 5, 21}, []int{17}),
		rope("interleaved", graph.RoPEConfig{Interleaved: true}, []int{2, 3, 5, 6}, []int{3, -1, 4, 1, 5}, 5),
		rope("interleaved, two heads, a part of each", graph.RoPEConfig{Heads: 2, Dims: 4, Interleaved: true}, []int{2, 3, 10}, []int{3, -1, 4, 1, 5, 9}, 2, 3),
		rope("linear", graph.RoPEConfig{Scaling: graph.LinearScaling, Factor: 2.5}, []int{5, 6}, []int{1000000}),
		rope("ntk", graph.RoPEConfig{Base: 100, Scaling: graph.NTKScaling, Factor: 2.5}, []int{2, 5, 6}, []int{-3}),
		rope("T=1", graph.RoPEConfig{}, []int{2, 1, 2}, []int{7}),
	}
}

func sinusoidalOps() []gradcheckCase {
	return []gradcheckCase{
		placed("AddSinusoidal", "2-D", graph.AddSinusoidal, []int{5, 6}, nil),
		placed("AddSinusoidal", "3-D, from 17", graph.AddSinusoidal, []int{2, 3, 6}, []int{17}),
		placed("AddSinusoidal", "a position for each", graph.AddSinusoidal, []int{2, 3, 2}, []int{3, -1, 4, 1, 5, 9}, 2, 3),
	}
}

func biasOps() []gradcheckCase {
	t5 := func(about string, c graph.T5Config, buckets int) gradcheckCase {
		return oneInput("T5RelativeBias", about, func(x *G.Node) (*G.Node, error) { return graph.T5RelativeBias(x, c) }, buckets, 3)
	}
	expand := func(about string, T, S int, shape ...int) gradcheckCase {
		return oneInput("ExpandRelativeBias", about, func(x *G.Node) (*G.Node, error) { return graph.ExpandRelativeBias(x, T, S) }, shape...)
	}
	alibi := func(about string, c graph.ALiBiConfig) gradcheckCase {
		return opCase("ALiBi", about, func(g *checkedGraph) (*G.Node, error) {
			bias, err := graph.ALiBi(g.graph, g.dt, c)
			if err != nil {
				return nil, err
			}
			return softmaxOfSum(g.input("x", c.Heads, c.T+c.S-1), bias)
		})
	}
	return []gradcheckCase{
		t5("two directions", graph.T5Config{T: 5, S: 7, MaxDistance: 5}, 8),
		t5("one direction, later", graph.T5Config{T: 3, S: 31, Offset: 29, MaxDistance: 20, Unidirectional: true}, 7),
		t5("T=1", graph.T5Config{T: 1, S: 5, Offset: 2}, 4),
		expand("two heads", 5, 7, 2, 11),
		expand("for all heads", 7, 3, 1, 9),
		expand("T=1", 1, 5, 3, 5),
		expand("S=1", 5, 1, 3, 5),
		alibi("six heads", graph.ALiBiConfig{Heads: 6, T: 5, S: 3, Offset: 1}),
		alibi("eight heads, T=1", graph.ALiBiConfig{Heads: 8, T: 1, S: 5, Offset: 4}),
	}
}
