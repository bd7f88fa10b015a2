package translate

import (
	"strings"

	"attention/layers"
	"attention/train/record"
	"attention/train/tasks/dates"
	"attention/train/text"

	G "gorgonia.org/gorgonia"
)

// recordConfig returns what the run records: changes of its weights, and all attention weights of the held-out date in
// the picture.
func (r *translation) recordConfig() (record.Config, error) {
	queries := record.Matrix{Rows: r.options.Model.Dates.EmbedDim}
	pair, err := r.model.Values(r.heldOut.Pairs[drawnPair])
	return record.Config{Matrices: record.QueryParts(r.model.Params(), "in_proj_weight", queries), Inputs: pair,
		Probe: r.probe}, err
}

// probe returns the attention weights of the held-out date of the picture and its translation.
func (r *translation) probe(b *layers.Build, in layers.Inputs) (record.Probe, error) {
	r.model.Logits(b, in)
	weights := map[string]*G.Node{}
	for _, call := range b.Calls("*") {
		weights[call.Path] = b.Of(call.Weights())
	}
	p := r.heldOut.Pairs[drawnPair]
	written := strings.Split(p.Written, "")
	writes := strings.Split(p.ISO, "")
	reads := append([]string{"<begin>"}, writes[:len(writes)-1]...)
	return record.NewProbe(weights, func(name string) string {
		texts := text.WeightTexts{Queries: written, Keys: written}
		switch {
		case strings.HasSuffix(name, dates.CrossAttention[1:]):
			texts.Queries = writes
		case strings.Contains(name, "decoder"):
			texts = text.WeightTexts{Queries: reads, Keys: reads, Causal: true}
		}
		return texts.Note()
	}), nil
}
