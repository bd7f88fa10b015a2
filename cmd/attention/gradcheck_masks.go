package main

import (
	"math"
	"slices"

	"attention/graph"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// nodeSetting is a way to call either form of attention with nodes in the config.
type nodeSetting struct {
	about   string
	q, k, v []int
	config  func(g *checkedGraph) (graph.AttentionConfig, error)
}

// nodeSettings have 2 batches, 3 heads, 5 queries and 7 keys if they do not say so.
func nodeSettings() []nodeSetting {
	return slices.Concat(maskSettings(), biasSettings(), []nodeSetting{
		{"everything at once", []int{2, 5, 12}, []int{2, 9, 4}, []int{2, 9, 6}, everythingAtOnce},
	})
}

// threeHeads is a setting that always can be made.
func threeHeads(about string, set func(g *checkedGraph, c *graph.AttentionConfig)) nodeSetting {
	return nodeSetting{about, []int{2, 5, 6}, []int{2, 7, 6}, []int{2, 7, 15}, func(g *checkedGraph) (graph.AttentionConfig, error) {
		c := graph.AttentionConfig{Heads: 3}
		set(g, &c)
		return c, nil
	}}
}

func maskSettings() []nodeSetting {
	masked := func(about string, m graph.Mask) nodeSetting {
		return threeHeads(about, func(_ *checkedGraph, c *graph.AttentionConfig) { c.Mask = m })
	}
	lengths := func(g *checkedGraph) graph.Mask {
		return graph.KeyLengths{Lengths: g.ids("lengths", []int{4, 0}, 2)}
	}
	return []nodeSetting{
		masked("causal, upper left", graph.Causal{Align: graph.UpperLeft}),
		masked("causal, lower right", graph.Causal{Align: graph.LowerRight}),
		masked("window", graph.SlidingWindow{Left: 2, Right: 1, Align: graph.LowerRight}),
		masked("causal or prefix", graph.Or(graph.Causal{Align: graph.UpperLeft}, graph.Prefix{N: 3})),
		masked("not a window", graph.Not(graph.SlidingWindow{Left: 1, Align: graph.UpperLeft})),
		threeHeads("lengths, one of them 0", func(g *checkedGraph, c *graph.AttentionConfig) { c.Mask = lengths(g) }),
		threeHeads("lengths, renormalized", func(g *checkedGraph, c *graph.AttentionConfig) { c.Mask, c.Renormalize = lengths(g), true }),
		threeHeads("segments", func(g *checkedGraph, c *graph.AttentionConfig) {
			query := g.ids("segments", []int{0, 0, 3, 3, 8, -1, 2, -1, 2, -1}, 2, 5)
			c.Mask = graph.Segments{Query: query, Key: g.ids("key segments", []int{0, 0, 0, 3, 3, 3, 5, 2, -1, 2, -1, 2, -1, 2}, 2, 7)}
		}),
		threeHeads("keep of each head and key", func(g *checkedGraph, c *graph.AttentionConfig) {
			c.Mask = graph.Keep{Keep: g.fixed("keep", []float64{1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, 3, 1, 7)}
		}),
		threeHeads("masks joined", func(g *checkedGraph, c *graph.AttentionConfig) {
			keep := graph.Keep{Keep: g.ids("keep", []int{1, 1, 0, 1, 0, 1, 1, 1, 0, 1}, 2, 1, 5, 1)}
			c.Mask = graph.Or(graph.And(graph.Causal{Align: graph.LowerRight}, lengths(g)), graph.Not(keep))
		}),
	}
}

func biasSettings() []nodeSetting {
	biased := func(about string, shape ...int) nodeSetting {
		return threeHeads(about, func(g *checkedGraph, c *graph.AttentionConfig) { c.Bias = g.input("bias", shape...) })
	}
	hide := math.Inf(-1)
	return []nodeSetting{
		biased("bias of each key", 7),
		biased("bias of each query and key", 5, 7),
		biased("bias of each head and key", 3, 1, 7),
		biased("bias of each batch and key", 2, 1, 1, 7),
		biased("bias of each score", 2, 3, 5, 7),
		threeHeads("bias of each query, beside sinks", func(g *checkedGraph, c *graph.AttentionConfig) {
			c.Bias, c.Sinks = g.input("bias", 5, 1), g.input("sinks", 3)
		}),
		threeHeads("bias that hides keys", func(g *checkedGraph, c *graph.AttentionConfig) {
			c.Bias = g.fixed("bias", []float64{0, hide, 0.5, hide, hide, 1, 0}, 7)
		}),
		threeHeads("relative bias", func(g *checkedGraph, c *graph.AttentionConfig) { c.RelativeBias = g.input("relative bias", 3, 11) }),
		threeHeads("one relative bias for all heads, causal", func(g *checkedGraph, c *graph.AttentionConfig) {
			c.RelativeBias, c.Mask = g.input("relative bias", 1, 11), graph.Causal{Align: graph.LowerRight}
		}),
		{"relative bias, 2-D", []int{5, 2}, []int{7, 2}, []int{7, 3}, func(g *checkedGraph) (graph.AttentionConfig, error) {
			return graph.AttentionConfig{RelativeBias: g.input("relative bias", 1, 11)}, nil
		}},
		{"relative bias, detached", []int{2, 5, 6}, []int{2, 7, 6}, []int{2, 7, 15}, func(g *checkedGraph) (c graph.AttentionConfig, err error) {
			c.Heads = 3
			c.RelativeBias, err = graph.Detach(g.fixed("relative bias", g.draw(-1, 1, 33), 3, 11))
			return c, err
		}},
		threeHeads("sinks, nothing to see for some", func(g *checkedGraph, c *graph.AttentionConfig) {
			c.Sinks, c.Mask = g.input("sinks", 3), graph.SlidingWindow{Left: 1, Align: graph.UpperLeft}
		}),
		threeHeads("softcap", func(_ *checkedGraph, c *graph.AttentionConfig) { c.Softcap = 1.5 }),
		threeHeads("extra keys", func(g *checkedGraph, c *graph.AttentionConfig) {
			c.ExtraKeys, c.Mask, c.Bias = 2, graph.Prefix{N: 2}, g.input("bias", 5, 5)
		}),
	}
}

// everythingAtOnce is of 6 heads that share 2, and 2 extra keys after 7 others.
func everythingAtOnce(g *checkedGraph) (graph.AttentionConfig, error) {
	lengths := graph.KeyLengths{Lengths: g.ids("lengths", []int{6, 7}, 2)}
	return graph.AttentionConfig{
		Heads: 6, KVHeads: 2, Scale: 0.7, Softcap: 5,
		Mask: graph.And(graph.Causal{Align: graph.LowerRight}, lengths), ExtraKeys: 2,
		Bias: g.input("bias", 2, 1, 5, 7), RelativeBias: g.input("relative bias", 6, 11), Sinks: g.input("sinks", 6),
		Dropout: graph.DropoutConfig{P: 0.3, Key: g.key(), Site: 1},
	}, nil
}

// maskedOps are MaskFill, of which the exponential is checked: −∞ cannot be differentiated.
func maskedOps() []gradcheckCase {
	filled := func(about string, mask func(g *checkedGraph) graph.Mask, shape ...int) gradcheckCase {
		return opCase("MaskFill", about, func(g *checkedGraph) (*G.Node, error) {
			var f expr.Formula
			y := f.Of(graph.Exp(f.Of(graph.MaskFill(g.input("scores", shape...), mask(g)))))
			return f.Result(y)
		})
	}
	return []gradcheckCase{
		filled("window, 2-D", func(*checkedGraph) graph.Mask { return graph.SlidingWindow{Left: 1, Align: graph.UpperLeft} }, 5, 3),
		filled("lengths, 3-D", func(g *checkedGraph) graph.Mask { return graph.KeyLengths{Lengths: g.ids("lengths", []int{5, 2}, 2)} }, 2, 3, 5),
		filled("not kept, 4-D", func(g *checkedGraph) graph.Mask {
			return graph.Not(graph.Keep{Keep: g.fixed("keep", []float64{1, 0, 0, 1, 0, 0}, 3, 2, 1)})
		}, 2, 3, 2, 5),
	}
}

func appendOps() []gradcheckCase {
	return []gradcheckCase{
		twoInputs("AppendRow", "2-D", graph.AppendRow, []int{3, 5}, []int{5}),
		twoInputs("AppendRow", "3-D, a row of three axes", graph.AppendRow, []int{2, 3, 5}, []int{1, 1, 5}),
		twoInputs("AppendRow", "4-D, rows of one", graph.AppendRow, []int{2, 3, 5, 1}, []int{1}),
		oneInput("AppendRow", "zeros", func(x *G.Node) (*G.Node, error) { return graph.AppendRow(x, nil) }, 2, 3, 5),
		opCase("Detach", "as a factor", func(g *checkedGraph) (*G.Node, error) {
			y, err := graph.Detach(g.fixed("y", g.draw(-1, 1, 6), 2, 3))
			if err != nil {
				return nil, err
			}
			return graph.Mul(g.input("x", 2, 3), y)
		}),
	}
}
