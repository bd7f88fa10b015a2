package gradcases

import (
	"attention/graph/gradcases"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// linearAttentions returns the cases of LinearAttention.
func linearAttentions() []Case {
	of := func(form string, kvHeads int) func(layers.Scope) (Forward, error) {
		return func(s layers.Scope) (Forward, error) {
			c, err := layers.LinearAttentionOf(form)
			if err != nil {
				return nil, err
			}
			c.EmbedDim, c.NumHeads, c.NumKVHeads, c.HeadDim, c.ValueDim = 2, 2, kvHeads, 3, 5
			l, err := layers.NewLinearAttention(s, c)
			return func(b *layers.Build, in G.Nodes) (*G.Node, error) { return l.Forward(b, in[0]) }, err
		}
	}
	x := []gradcases.Input{gradcases.Float("x", 2, 5, 2)}
	return []Case{
		{Layer: "LinearAttention", About: "linear", New: of("linear", 0), Inputs: x},
		{Layer: "LinearAttention", About: "retention", New: of("retention", 0), Inputs: x},
		{Layer: "LinearAttention", About: "gla, two chunks", New: of("gla", 0),
			Inputs: []gradcases.Input{gradcases.Float("x", 19, 2)}},
		{Layer: "LinearAttention", About: "delta_net", New: of("delta_net", 0), Inputs: x},
		{Layer: "LinearAttention", About: "gated_delta_net, grouped heads", New: of("gated_delta_net", 1), Inputs: x},
	}
}
