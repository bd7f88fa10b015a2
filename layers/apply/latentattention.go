package apply

import (
	"attention/internal/config"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// newLatent returns the layer latent_attention.
func newLatent(text []byte) (*Layer, error) {
	var c layers.LatentAttentionConfig
	if err := config.Decode(text, new(envelope), &c); err != nil {
		return nil, err
	}
	l, err := declare(latentName, layers.NewLatentAttention, c,
		func(l *layers.LatentAttention, b *layers.Build, in map[string]*G.Node) (out, weights *G.Node) {
			call := layers.AttentionInput{Query: in["x"], Mask: maskOf(in)}
			return b.Of(l.Attend(b, call)), b.Of(l.Weights(b, call))
		})
	if err != nil {
		return nil, err
	}
	a := c.Attention
	l.sequences = []sequenceSpec{{name: "x", length: "T", width: a.EmbedDim, longest: a.ContextLength}}
	l.extras, l.heads = []extraSpec{{name: "lengths", kind: wholeNumbers, axes: []string{"B"}}}, a.NumHeads
	return l, nil
}
