package translate

import (
	"strings"

	"attention/cmd/attention/internal/session"
	"attention/layers"
	"attention/train/record"
	"attention/train/text"

	G "gorgonia.org/gorgonia"
)

// crossAttention matches the paths of the decoder's cross-attentions, the ones of the picture.
const crossAttention = "*.multihead_attn"

// watch returns what the run records: how its weights move, and all attention weights of the held-out date of the
// picture.
func (r *translation) watch() record.Config {
	queries := record.Matrix{Rows: r.model.Settings.Model.Width}
	return record.Config{Matrices: session.QueryParts(r.model.Params(), "in_proj_weight", queries), Probe: r.probe}
}

// probe returns the attention weights of the held-out date of the picture and its translation.
func (r *translation) probe(b *layers.Build) (record.Probe, error) {
	p := r.heldOut.Pairs[drawnPair]
	if err := translatePair(r.model, b, p); err != nil {
		return record.Probe{}, err
	}
	weights := map[string]*G.Node{}
	for _, call := range b.Calls("*") {
		weights[call.Path] = b.Of(call.Weights())
	}
	if err := b.Err(); err != nil {
		return record.Probe{}, err
	}
	written := strings.Split(p.Written, "")
	writes := strings.Split(p.ISO, "")
	reads := append([]string{"<begin>"}, writes[:len(writes)-1]...)
	return session.NewProbe(weights, func(name string) text.WeightTexts {
		switch {
		case strings.HasSuffix(name, crossAttention[1:]):
			return text.WeightTexts{Queries: writes, Keys: written}
		case strings.Contains(name, "decoder"):
			return text.WeightTexts{Queries: reads, Keys: reads, Causal: true}
		}
		return text.WeightTexts{Queries: written, Keys: written}
	}), nil
}
