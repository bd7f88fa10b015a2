package train

import (
	"math"

	"attention/cmd/attention/internal/run/settings"
	"attention/layers"
	"attention/layers/heads"
	"attention/train/record"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// The limits of a probe.
const (
	probeTokens  = 32      // of its text
	probeWeights = 100_000 // of all heads together; a probe that would exceed it has fewer tokens
)

// probedTokens returns the number of tokens of the text whose attention weights a run records. It is 0 if the model has
// no heads or too many.
func probedTokens(c settings.ModelConfig) int {
	heads := c.Heads()
	if heads == 0 {
		return 0
	}
	n := int(math.Sqrt(float64(probeWeights / heads)))
	if !c.Causal() {
		return min(c.Context(), n) // training uses only its last query
	}
	return min(c.Context(), n, probeTokens)
}

// recordConfig returns what the run records: parts of the query matrices, and the attention weights of a validation
// text. The text begins with a word and does not depend on the prompt. With --head-stats it also records the statistics
// of each head over more of the text.
func (r *training) recordConfig() (c record.Config, err error) {
	shown := probedTokens(r.config.Model)
	n := shown
	if r.config.HeadStats {
		n = max(n, min(r.model.Context(), statsTokens))
	}
	ids, err := r.corpus.Words(0, n)
	if err != nil {
		return c, err
	}
	tokens, err := text.Texts(r.corpus.Tokenizer, ids[:shown])
	if err != nil {
		return c, err
	}
	queries, columns := r.model.Queries()
	about := text.WeightTexts{Queries: tokens, Keys: tokens, Causal: r.model.Causal()}
	c = record.Config{Matrices: record.QueryParts(r.model.Params(), queries, record.Matrix{Columns: columns}),
		OnRecord: r.printHeads, Inputs: layers.Values{}}
	if shown > 0 {
		c.Inputs[probeIDs] = vector(ids[:shown])
	}
	if r.config.HeadStats {
		c.Inputs[statsIDs] = vector(ids)
	}
	if len(c.Inputs) > 0 {
		c.Probe = func(b *layers.Build, in layers.Inputs) (record.Probe, error) { return r.probe(b, in, about) }
	}
	return c, nil
}

// The inputs of a probe.
const (
	probeIDs = "ids"
	statsIDs = "stats.ids"
)

// vector returns ids (T).
func vector(ids []int) *tensor.Dense {
	return tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(ids))
}

// probe returns the attention weights over ids, whose tokens are in about. With --head-stats it also returns the
// statistics of each head over more of them.
func (r *training) probe(b *layers.Build, in layers.Inputs, about text.WeightTexts) (p record.Probe, err error) {
	if ids := in[probeIDs]; ids != nil {
		weights, err := r.model.AttentionWeights(b, ids)
		if err != nil {
			return p, err
		}
		p = record.NewProbe(weights, func(string) string { return about.Note() })
	}
	if !r.config.HeadStats {
		return p, nil
	}
	before := len(b.Calls("*"))
	b.Observe("*")
	b.Of(r.model.Forward(b, in[statsIDs]))
	if err := b.Err(); err != nil {
		return p, err
	}
	p.Nodes, p.Numbers, err = heads.Record(b.Calls("*")[before:])
	return p, err
}
