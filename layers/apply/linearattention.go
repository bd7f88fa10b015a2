package apply

import (
	"attention/graph/mask"
	"attention/internal/config"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// newLinear returns the layer linear_attention.
func newLinear(text []byte) (*Layer, error) {
	var c layers.LinearAttentionConfig
	if err := config.Decode(text, new(envelope), &c); err != nil {
		return nil, err
	}
	l, err := declare(linearName, layers.NewLinearAttention, c,
		func(l *layers.LinearAttention, b *layers.Build, in map[string]*G.Node) (out, weights *G.Node) {
			call := layers.AttentionInput{Query: in["x"]}
			if lengths := in["lengths"]; lengths != nil {
				call.Mask = mask.KeyLengths{Lengths: lengths}
			}
			out = b.Of(l.Attend(b, call))
			for _, c := range b.LinearCalls("*") { // the only call, unless it has failed
				weights = b.Of(c.Weights())
			}
			return out, weights
		})
	if err != nil {
		return nil, err
	}
	l.sequences = []sequenceSpec{{name: "x", length: "T", width: c.EmbedDim}}
	l.extras, l.heads = []extraSpec{{name: "lengths", kind: wholeNumbers, axes: []string{"B"}}}, c.NumHeads
	return l, nil
}
