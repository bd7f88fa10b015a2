package gradcases

import (
	"attention/graph/gradcases"
	"attention/graph/mask"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// latentAttentions returns the cases of LatentAttention.
func latentAttentions() []Case {
	of := func(rank int) func(layers.Scope) (Forward, error) {
		return func(s layers.Scope) (Forward, error) {
			l, err := layers.NewLatentAttention(s, layers.LatentAttentionConfig{
				Attention: layers.AttentionConfig{EmbedDim: 3, NumHeads: 2, Mask: mask.Causal{}},
				QLoraRank: rank, KVLoraRank: 5, QKNopeHeadDim: 3, QKRopeHeadDim: 2, VHeadDim: 7})
			return func(b *layers.Build, in G.Nodes) (*G.Node, error) { return l.Forward(b, in[0]) }, err
		}
	}
	return []Case{
		{Layer: "LatentAttention", About: "plain queries", New: of(0),
			Inputs: []gradcases.Input{gradcases.Float("x", 2, 5, 3)}},
		{Layer: "LatentAttention", About: "low-rank queries", New: of(4),
			Inputs: []gradcases.Input{gradcases.Float("x", 5, 3)}},
	}
}
