package gradcases

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// linears returns the cases of LinearAttention, CausalConv and DecayGate.
func linears() []Case {
	return append([]Case{
		{Op: "LinearAttention", About: "(B, T, K·D)", Apply: linear(1, false),
			Inputs: []Input{Float("q", 2, 5, 3), Float("k", 2, 5, 3), Float("v", 2, 5, 7)}},
		{Op: "LinearAttention", About: "decay of heads, two chunks", Apply: linear(2, false, "decay"),
			Inputs: linearInputs(67, 2, 2, 2, 3, Float("decay", 67, 2))},
		{Op: "LinearAttention", About: "decay of channels, two chunks", Apply: linear(2, false, "decay"),
			Inputs: linearInputs(19, 2, 2, 3, 2, Float("decay", 19, 6))},
		{Op: "LinearAttention", About: "delta rule, grouped heads", Apply: linear(4, true, "beta"),
			Inputs: linearInputs(7, 4, 2, 3, 2, Float("beta", 7, 2))},
		{Op: "LinearAttention", About: "gated delta rule, state, two chunks",
			Apply: linear(1, true, "decay", "beta", "state"), Inputs: linearInputs(67, 1, 1, 2, 3, Float("decay", 67, 1), Float("beta", 67, 1), Float("state", 1, 2, 3))},
		{Op: "LinearAttention", About: "delta rule, decay of channels", Apply: linear(2, true, "decay", "beta"),
			Inputs: linearInputs(19, 2, 1, 3, 2, Float("decay", 19, 3), Float("beta", 19, 1))},
		{Op: "LinearAttention", About: "delta rule, lengths", Apply: linear(1, false, "decay", "beta", "lengths"),
			Inputs: []Input{Float("q", 2, 5, 3), Float("k", 2, 5, 3), Float("v", 2, 5, 2), Float("decay", 2, 5, 1),
				Float("beta", 2, 5, 1), IDs("lengths", []int{5, 2}, 2)}},
	}, convolutions()...)
}

// convolutions returns the cases of CausalConv and of other ops used with LinearAttention.
func convolutions() []Case {
	conv := func(in G.Nodes) (*G.Node, error) {
		in = append(in, nil, nil)
		return graph.CausalConv(in[0], in[1], in[2], in[3])
	}
	return []Case{
		{Op: "CausalConv", About: "(B, T, C)", Apply: conv, Inputs: pair("x", s{2, 7, 3}, "weight", s{3, 1, 4})},
		{Op: "CausalConv", About: "bias, state", Apply: conv,
			Inputs: append(pair("x", s{2, 2, 3}, "weight", s{3, 4}), Float("bias", 3), Float("state", 2, 3, 3))},
		{Op: "DecayGate", About: "(B, T, N)", Inputs: append(pair("x", s{2, 5, 3}, "rate", s{3}), Float("bias", 3)),
			Apply: func(in G.Nodes) (*G.Node, error) { return graph.DecayGate(in[0], in[1], in[2]) }},
		{Op: "ELUPlusOne", About: "(2, 3, 5)", Inputs: x(2, 3, 5), Apply: one(graph.ELUPlusOne)},
	}
}

// linearInputs returns q (T, H·D), k (T, K·D), v (T, K·Dv), then more.
func linearInputs(t, heads, kvHeads, d, dv int, more ...Input) []Input {
	return append([]Input{Float("q", t, heads*d), Float("k", t, kvHeads*d), Float("v", t, kvHeads*dv)}, more...)
}

// linear returns LinearAttention with options among the inputs behind q, k and v. Decays are made negative; with the
// delta rule keys are shortened, so that the state does not grow over many of them.
func linear(heads int, short bool, optional ...string) func(G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) {
		given, k := map[string]*G.Node{}, in[1]
		for i, name := range optional {
			given[name] = in[3+i]
		}
		var err error
		if short {
			if k, err = graph.Scale(k, 0.3); err != nil {
				return nil, err
			}
		}
		c := graph.LinearAttentionConfig{Heads: heads, Beta: given["beta"], State: given["state"], Lengths: given["lengths"]}
		if decay := given["decay"]; decay != nil {
			if decay, err = graph.Sigmoid(decay); err != nil {
				return nil, err
			}
			if c.Decay, err = graph.Scale(decay, -1); err != nil {
				return nil, err
			}
		}
		if beta := c.Beta; beta != nil {
			c.KVHeads = beta.Shape()[beta.Dims()-1]
		}
		out, _, err := graph.LinearAttention(in[0], k, in[2], c)
		return out, err
	}
}
