package main

import (
	"slices"

	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// attentionSetting is a way to call either form of attention.
type attentionSetting struct {
	about   string
	config  graph.AttentionConfig
	q, k, v []int
	dropout float64
}

func attentionSettings() []attentionSetting {
	var plain graph.AttentionConfig
	causal, renormalized := graph.AttentionConfig{Mask: graph.Causal{}}, graph.AttentionConfig{Mask: graph.Causal{}, Renormalize: true}
	heads, causalHeads := graph.AttentionConfig{Heads: 3}, graph.AttentionConfig{Heads: 3, Mask: graph.Causal{}}
	t5, t5v := []int{2, 5, 3}, []int{2, 5, 7}
	return []attentionSetting{
		{"2-D", plain, []int{2, 5}, []int{3, 5}, []int{3, 7}, 0},
		{"3-D", plain, []int{2, 3, 5}, []int{2, 7, 5}, []int{2, 7, 3}, 0},
		{"4-D", plain, []int{2, 3, 2, 5}, []int{2, 3, 7, 5}, []int{2, 3, 7, 3}, 0},
		{"three heads", heads, []int{2, 5, 6}, []int{2, 7, 6}, []int{2, 7, 15}, 0},
		{"six heads share two", graph.AttentionConfig{Heads: 6, KVHeads: 2}, []int{2, 5, 18}, []int{2, 7, 6}, []int{2, 7, 10}, 0},
		{"causal, two heads share one, dropout", graph.AttentionConfig{Heads: 2, KVHeads: 1, Mask: graph.Causal{}}, []int{2, 5, 6}, []int{2, 5, 3}, []int{2, 5, 7}, 0.3},
		{"one head", graph.AttentionConfig{Heads: 1}, []int{2, 3, 5}, []int{2, 7, 5}, []int{2, 7, 3}, 0},
		{"scale 1.7", graph.AttentionConfig{Scale: 1.7}, []int{2, 3, 5}, []int{2, 7, 5}, []int{2, 7, 3}, 0},
		{"T=1", plain, []int{2, 1, 5}, []int{2, 7, 5}, []int{2, 7, 3}, 0},
		{"S=1", plain, []int{2, 3, 5}, []int{2, 1, 5}, []int{2, 1, 3}, 0},
		{"T and S of several tiles", plain, []int{137, 2}, []int{67, 2}, []int{67, 1}, 0},
		{"dropout", plain, t5, t5, t5v, 0.3},
		{"causal, 3-D", causal, t5, t5, t5v, 0},
		{"causal, 4-D", causal, []int{2, 3, 5, 2}, []int{2, 3, 5, 2}, []int{2, 3, 5, 7}, 0},
		{"causal, three heads", causalHeads, []int{2, 5, 6}, []int{2, 5, 6}, []int{2, 5, 21}, 0},
		{"causal, T=1", causal, []int{2, 1, 3}, []int{2, 1, 3}, []int{2, 1, 7}, 0},
		{"causal, T of several tiles", causal, []int{67, 2}, []int{67, 2}, []int{67, 1}, 0},
		{"causal, dropout", causal, t5, t5, t5v, 0.3},
		{"causal, three heads, dropout", causalHeads, []int{2, 5, 6}, []int{2, 5, 6}, []int{2, 5, 21}, 0.3},
		{"causal renormalized, 3-D", renormalized, t5, t5, t5v, 0},
		{"causal renormalized, 4-D", renormalized, []int{2, 3, 5, 2}, []int{2, 3, 5, 2}, []int{2, 3, 5, 7}, 0},
		{"causal renormalized, dropout", renormalized, t5, t5, t5v, 0.3},
	}
}

func attentionOps() []gradcheckCase {
	composed := func(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error) {
		out, _, err := graph.Attention(q, k, v, c)
		return out, err
	}
	return slices.Concat(attentionOf("Attention", composed), attentionWeights(), attentionOf("FusedAttention", graph.FusedAttention),
		maskedOps(), appendOps())
}

// nodes is the setting with its dropout key.
func (s attentionSetting) nodes() nodeSetting {
	return nodeSetting{s.about, s.q, s.k, s.v, func(g *checkedGraph) (graph.AttentionConfig, error) {
		c := s.config
		if s.dropout > 0 {
			c.Dropout = graph.DropoutConfig{P: s.dropout, Key: g.key(), Site: 1}
		}
		return c, nil
	}}
}

// attentionOf checks a form of attention in every setting.
func attentionOf(covers string, attend func(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error)) []gradcheckCase {
	var settings []nodeSetting
	for _, s := range attentionSettings() {
		settings = append(settings, s.nodes())
	}
	var cases []gradcheckCase
	for _, s := range append(settings, nodeSettings()...) {
		cases = append(cases, opCase(covers, s.about, func(g *checkedGraph) (*G.Node, error) {
			q, k, v := g.input("q", s.q...), g.input("k", s.k...), g.input("v", s.v...)
			c, err := s.config(g)
			if err != nil {
				return nil, err
			}
			return attend(q, k, v, c)
		}))
	}
	return append(cases, opCase(covers, "of x to itself, causal", func(g *checkedGraph) (*G.Node, error) {
		x := g.input("x", 2, 5, 3)
		return attend(x, x, x, graph.AttentionConfig{Mask: graph.Causal{}})
	}))
}

// attentionWeights checks the weights, in which the values have no part.
func attentionWeights() []gradcheckCase {
	weights := func(about string, c graph.AttentionConfig) gradcheckCase {
		return opCase("Attention", about, func(g *checkedGraph) (*G.Node, error) {
			q, k := g.input("q", 2, 5, 6), g.input("k", 2, 5, 6)
			_, weights, err := graph.Attention(q, k, g.fixed("v", make([]float64, 60), 2, 5, 6), c)
			return weights, err
		})
	}
	return []gradcheckCase{
		weights("its weights", graph.AttentionConfig{}),
		weights("its weights, causal, three heads", graph.AttentionConfig{Mask: graph.Causal{}, Heads: 3}),
		weights("its weights, causal renormalized", graph.AttentionConfig{Mask: graph.Causal{}, Renormalize: true}),
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
			q, k, v := g.input("q", 2, 3, 5), g.input("k", 2, 7, 5), g.input("v", 1, 5)
			_, weights, err := graph.AdditiveAttention(q, k, v, g.fixed("value", make([]float64, 42), 2, 7, 3))
			return weights, err
		}),
	}
}
