package gradcases

import (
	"math"

	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
)

// threeHeads returns a setting with B=2, H=3, T=5 and S=7.
func threeHeads(about string, set func(c *graph.AttentionConfig, more G.Nodes), more ...Input) setting {
	return setting{about: about, config: graph.AttentionConfig{Heads: 3}, q: s{2, 5, 6}, k: s{2, 7, 6}, v: s{2, 7, 15},
		more: more, set: set}
}

// own marks a setting whose mask holds a function.
func own(s setting) setting {
	s.anew = true
	return s
}

func maskSettings() []setting {
	masked := func(about string, m mask.Mask) setting {
		return threeHeads(about, func(c *graph.AttentionConfig, _ G.Nodes) { c.Mask = m })
	}
	lengths := IDs("lengths", []int{4, 0}, 2)
	query := IDs("segments", []int{0, 0, 3, 3, 8, -1, 2, -1, 2, -1}, 2, 5)
	key := IDs("key segments", []int{0, 0, 0, 3, 3, 3, 5, 2, -1, 2, -1, 2, -1, 2}, 2, 7)
	keepKeys := Fixed("keep", []float64{1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, 3, 1, 7)
	keepQueries := IDs("keep", []int{1, 1, 0, 1, 0, 1, 1, 1, 0, 1}, 2, 1, 5, 1)
	return []setting{
		masked("causal, upper left", mask.Causal{Align: mask.UpperLeft}),
		masked("causal, lower right", mask.Causal{Align: mask.LowerRight}),
		masked("causal, after two keys", mask.Causal{Offset: 2}),
		masked("causal, queries that see no key", mask.Causal{Align: mask.UpperLeft, Offset: -2}),
		threeHeads("causal, an offset for each sequence", func(c *graph.AttentionConfig, more G.Nodes) {
			c.Mask = mask.CausalAt{Start: more[0]}
		}, IDs("starts", []int{2, -3}, 2)),
		own(masked("a function of positions", mask.Func{VisibleAt: func(t, s int) bool { return s <= t+2 && (t+s)%3 > 0 }})),
		own(masked("a function of batch and head",
			mask.Func{Visible: func(b, h, t, s int) bool { return (2*b+h+t*s)%4 > 1 }})),
		masked("window", mask.SlidingWindow{Left: 2, Right: 1, Align: mask.LowerRight}),
		masked("causal or prefix", mask.Or(mask.Causal{Align: mask.UpperLeft}, mask.Prefix{N: 3})),
		masked("not a window", mask.Not(mask.SlidingWindow{Left: 1, Align: mask.UpperLeft})),
		threeHeads("lengths, one of them 0", func(c *graph.AttentionConfig, more G.Nodes) {
			c.Mask = mask.KeyLengths{Lengths: more[0]}
		}, lengths),
		threeHeads("segments", func(c *graph.AttentionConfig, more G.Nodes) {
			c.Mask = mask.Segments{Query: more[0], Key: more[1]}
		}, query, key),
		threeHeads("keep of each head and key", func(c *graph.AttentionConfig, more G.Nodes) {
			c.Mask = mask.Keep{Keep: more[0]}
		}, keepKeys),
		threeHeads("masks joined", func(c *graph.AttentionConfig, more G.Nodes) {
			seen := mask.And(mask.Causal{Align: mask.LowerRight}, mask.KeyLengths{Lengths: more[1]})
			c.Mask = mask.Or(seen, mask.Not(mask.Keep{Keep: more[0]}))
		}, keepQueries, lengths),
		own(threeHeads("masks joined with a function", func(c *graph.AttentionConfig, more G.Nodes) {
			dilated := mask.Func{VisibleAt: func(t, s int) bool { return (t-s)%2 == 0 }}
			c.Mask = mask.And(mask.CausalAt{Start: more[1]}, mask.Or(mask.Not(dilated), mask.KeyLengths{Lengths: more[0]}))
		}, lengths, IDs("starts", []int{2, 5}, 2))),
	}
}

func biasSettings() []setting {
	bias := func(c *graph.AttentionConfig, more G.Nodes) { c.Bias = more[0] }
	relative := func(c *graph.AttentionConfig, more G.Nodes) { c.RelativeBias = more[0] }
	biased := func(about string, shape ...int) setting { return threeHeads(about, bias, Float("bias", shape...)) }
	hide := math.Inf(-1)
	return []setting{
		biased("bias of each key", 7),
		biased("bias of each query and key", 5, 7),
		biased("bias of each head and key", 3, 1, 7),
		biased("bias of each batch and key", 2, 1, 1, 7),
		biased("bias of each score", 2, 3, 5, 7),
		threeHeads("bias of each query, beside sinks", func(c *graph.AttentionConfig, more G.Nodes) {
			c.Bias, c.Sinks = more[0], more[1]
		}, Float("bias", 5, 1), Float("sinks", 3)),
		threeHeads("bias that hides keys", bias, Fixed("bias", []float64{0, hide, 0.5, hide, hide, 1, 0}, 7)),
		threeHeads("relative bias", relative, Float("relative bias", 3, 11)),
		threeHeads("one relative bias for all heads, causal", func(c *graph.AttentionConfig, more G.Nodes) {
			c.RelativeBias, c.Mask = more[0], mask.Causal{Align: mask.LowerRight}
		}, Float("relative bias", 1, 11)),
		{about: "relative bias, 2-D", q: s{5, 2}, k: s{7, 2}, v: s{7, 3}, set: relative,
			more: []Input{Float("relative bias", 1, 11)}},
		{about: "relative bias, detached", config: graph.AttentionConfig{Heads: 3},
			q: s{2, 5, 6}, k: s{2, 7, 6}, v: s{2, 7, 15}, detach: true, set: relative,
			more: []Input{{Name: "relative bias", Shape: s{3, 11}, Constant: true}}},
		threeHeads("sinks, nothing to see for some", func(c *graph.AttentionConfig, more G.Nodes) {
			c.Sinks, c.Mask = more[0], mask.SlidingWindow{Left: 1, Align: mask.UpperLeft}
		}, Float("sinks", 3)),
		threeHeads("log-gates, causal", func(c *graph.AttentionConfig, more G.Nodes) {
			c.LogGates, c.Mask = more[0], mask.Causal{Align: mask.LowerRight}
		}, Float("log gates", 2, 7, 3)),
		threeHeads("log-gates, keys after the queries, an extra key, sinks", func(c *graph.AttentionConfig, more G.Nodes) {
			c.LogGates, c.Sinks, c.ExtraKeys = more[0], more[1], 1
		}, Float("log gates", 2, 6, 3), Float("sinks", 3)),
		{about: "log-gates, 2-D", q: s{5, 2}, k: s{7, 2}, v: s{7, 3},
			set:  func(c *graph.AttentionConfig, more G.Nodes) { c.LogGates = more[0] },
			more: []Input{Float("log gates", 7)}},
		threeHeads("sigmoid, nothing to see for some", func(c *graph.AttentionConfig, _ G.Nodes) {
			c.Sigmoid, c.Mask = true, mask.SlidingWindow{Left: 1, Align: mask.UpperLeft}
		}),
		threeHeads("sigmoid less 2, a bias, log-gates, an extra key, softcap", func(c *graph.AttentionConfig, more G.Nodes) {
			c.Sigmoid, c.SigmoidBias, c.Bias, c.LogGates = true, -2, more[0], more[1]
			c.ExtraKeys, c.Softcap = 1, 2
		}, Float("bias", 5, 6), Float("log gates", 2, 6, 3)),
		threeHeads("sigmoid, causal, dropout", func(c *graph.AttentionConfig, more G.Nodes) {
			dropout(c, more)
			c.Sigmoid, c.Mask = true, mask.Causal{Align: mask.LowerRight}
		}, Key()),
		own(threeHeads("a function of scores, batches, heads and positions", func(c *graph.AttentionConfig, more G.Nodes) {
			c.Softcap, c.Bias, c.ExtraKeys, c.Mask = 2, more[0], 1, mask.SlidingWindow{Left: 1, Align: mask.UpperLeft}
			c.Score = graph.ScoreFunc{
				Score: func(x float64, b, h, t, s int) float64 { return math.Sin(2*x + float64(b+2*h+t-s)) },
				Slope: func(x float64, b, h, t, s int) float64 { return 2 * math.Cos(2*x+float64(b+2*h+t-s)) },
			}
		}, Float("bias", 5, 6))),
		{about: "sparse", config: graph.AttentionConfig{Heads: 4, KVHeads: 2, Sparse: &graph.BlockSparse{BlockSize: 2, Blocks: 2}},
			q: s{2, 7, 12}, k: s{2, 7, 6}, v: s{2, 7, 10}},
		{about: "sparse, one head, dropout, window", q: s{11, 3}, k: s{11, 3}, v: s{11, 5}, more: []Input{Key()},
			set: func(c *graph.AttentionConfig, more G.Nodes) {
				c.Sparse, c.Mask = &graph.BlockSparse{BlockSize: 3, Blocks: 2}, mask.SlidingWindow{Left: 7}
				c.Dropout = graph.DropoutConfig{P: 0.3, Key: more[0], Site: 1}
			}},
		threeHeads("softcap", func(c *graph.AttentionConfig, _ G.Nodes) { c.Softcap = 1.5 }),
		threeHeads("extra keys", func(c *graph.AttentionConfig, more G.Nodes) {
			c.ExtraKeys, c.Mask, c.Bias = 2, mask.Prefix{N: 2}, more[0]
		}, Float("bias", 5, 5)),
	}
}

// everythingAtOnce returns a setting with H=6, K=2 and 2 extra keys after 7 others.
func everythingAtOnce() setting {
	return setting{
		about: "everything at once", q: s{2, 5, 12}, k: s{2, 9, 4}, v: s{2, 9, 6},
		more: []Input{IDs("lengths", []int{6, 7}, 2), Float("bias", 2, 1, 5, 7), Float("relative bias", 6, 11),
			Float("sinks", 6), Key(), Float("log gates", 2, 7, 6)},
		set: func(c *graph.AttentionConfig, more G.Nodes) {
			*c = graph.AttentionConfig{
				Heads: 6, KVHeads: 2, Scale: 0.7, Softcap: 5, ExtraKeys: 2,
				Mask: mask.And(mask.Causal{Align: mask.LowerRight}, mask.KeyLengths{Lengths: more[0]}),
				Bias: more[1], RelativeBias: more[2], Sinks: more[3], LogGates: more[5],
				Dropout: graph.DropoutConfig{P: 0.3, Key: more[4], Site: 1},
			}
		},
	}
}
