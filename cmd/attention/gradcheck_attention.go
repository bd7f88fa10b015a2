package main

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

func attentionOps() []gradcheckCase {
	attention := func(about string, c graph.AttentionConfig, q, k, v []int) gradcheckCase {
		return opCase("Attention", about, func(g *checkedGraph) (*G.Node, error) {
			out, _, err := graph.Attention(g.input("q", q...), g.input("k", k...), g.input("v", v...), c)
			return out, err
		})
	}
	var plain graph.AttentionConfig
	causal, renormalized := graph.AttentionConfig{Mask: graph.Causal{}}, graph.AttentionConfig{Mask: graph.CausalRenormalized{}}
	dropped := func(c graph.AttentionConfig) func(g *checkedGraph) (*G.Node, error) {
		return func(g *checkedGraph) (*G.Node, error) {
			c.Dropout = graph.Drop{P: 0.3, Key: g.key(), Site: 1}
			out, _, err := graph.Attention(g.input("q", 2, 5, 3), g.input("k", 2, 5, 3), g.input("v", 2, 5, 7), c)
			return out, err
		}
	}
	weights := func(c graph.AttentionConfig) func(g *checkedGraph) (*G.Node, error) {
		return func(g *checkedGraph) (*G.Node, error) {
			_, weights, err := graph.Attention(g.input("q", 2, 5, 3), g.input("k", 2, 5, 3), g.fixed("v", make([]float64, 70), 2, 5, 7), c)
			return weights, err
		}
	}
	return []gradcheckCase{
		attention("2-D", plain, []int{2, 5}, []int{3, 5}, []int{3, 7}),
		attention("3-D", plain, []int{2, 3, 5}, []int{2, 7, 5}, []int{2, 7, 3}),
		attention("4-D", plain, []int{2, 3, 2, 5}, []int{2, 3, 7, 5}, []int{2, 3, 7, 3}),
		attention("scale 1.7", graph.AttentionConfig{Scale: 1.7}, []int{2, 3, 5}, []int{2, 7, 5}, []int{2, 7, 3}),
		attention("T=1", plain, []int{2, 1, 5}, []int{2, 7, 5}, []int{2, 7, 3}),
		attention("S=1", plain, []int{2, 3, 5}, []int{2, 1, 5}, []int{2, 1, 3}),
		attention("causal, 3-D", causal, []int{2, 5, 3}, []int{2, 5, 3}, []int{2, 5, 7}),
		attention("causal, 4-D", causal, []int{2, 3, 5, 2}, []int{2, 3, 5, 2}, []int{2, 3, 5, 7}),
		attention("causal, T=1", causal, []int{2, 1, 3}, []int{2, 1, 3}, []int{2, 1, 7}),
		attention("causal renormalized, 3-D", renormalized, []int{2, 5, 3}, []int{2, 5, 3}, []int{2, 5, 7}),
		attention("causal renormalized, 4-D", renormalized, []int{2, 3, 5, 2}, []int{2, 3, 5, 2}, []int{2, 3, 5, 7}),
		opCase("Attention", "dropout", dropped(plain)),
		opCase("Attention", "causal, dropout", dropped(causal)),
		opCase("Attention", "causal renormalized, dropout", dropped(renormalized)),
		opCase("Attention", "its weights", weights(plain)),
		opCase("Attention", "its weights, causal renormalized", weights(renormalized)),
		opCase("Attention", "x to itself, causal", func(g *checkedGraph) (*G.Node, error) {
			x := g.input("x", 2, 5, 3)
			out, _, err := graph.Attention(x, x, x, causal)
			return out, err
		}),
	}
}

func additiveOps() []gradcheckCase {
	additive := func(about string, q, k, value []int) gradcheckCase {
		return opCase("AdditiveAttention", about, func(g *checkedGraph) (*G.Node, error) {
			out, _, err := graph.AdditiveAttention(g.input("q", q...), g.input("k", k...), g.input("v", 1, 5), g.input("value", value...))
			return out, err
		})
	}
	return []gradcheckCase{
		twoInputs("PairwiseAdd", "2-D", graph.PairwiseAdd, []int{2, 5}, []int{3, 5}),
		twoInputs("PairwiseAdd", "3-D", graph.PairwiseAdd, []int{2, 3, 5}, []int{2, 7, 5}),
		twoInputs("PairwiseAdd", "T=1", graph.PairwiseAdd, []int{2, 1, 5}, []int{2, 3, 5}),
		additive("2-D", []int{2, 5}, []int{3, 5}, []int{3, 7}),
		additive("3-D", []int{2, 3, 5}, []int{2, 7, 5}, []int{2, 7, 3}),
		additive("T=1", []int{2, 1, 5}, []int{2, 3, 5}, []int{2, 3, 7}),
		opCase("AdditiveAttention", "its weights", func(g *checkedGraph) (*G.Node, error) {
			_, weights, err := graph.AdditiveAttention(g.input("q", 2, 3, 5), g.input("k", 2, 7, 5), g.input("v", 1, 5),
				g.fixed("value", make([]float64, 42), 2, 7, 3))
			return weights, err
		}),
	}
}
