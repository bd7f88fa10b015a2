package chapter

import (
	"attention/graph"
	"attention/layers"
	"attention/layers/chapter"
)

// headsSideBySide joins two causal layers.
func (p *page) headsSideBySide() error {
	if _, err := p.newCausal(); err != nil { // drawn before the heads
		return err
	}
	heads, err := layers.NewAttention(p.params.Scope("wrapper"), chapter.MultiHeadWrapper(3, 2, 2))
	if err != nil {
		return err
	}
	context := p.Of(heads.Forward(p.build, p.twice(p.tokens())))
	p.tensor(context, "The context vectors: two columns of the one causal layer, two of the other.",
		"002/38 context_vecs")
	p.size(context, "Their size.",
		"002/39 context_vecs.shape")
	return nil
}

// splitProjection makes the queries of two heads by one projection.
func (p *page) splitProjection() error {
	l, err := layers.NewLinear(p.params.Scope("W_query"), layers.LinearConfig{In: 3, Out: 2})
	if err != nil {
		return err
	}
	queries := p.Of(l.Forward(p.build, p.twice(p.tokens())))
	p.tensor(queries, "The queries of two heads, made by one projection.",
		"002/41 queries")
	p.size(queries, "Their size: sequences, tokens, the width of both heads.",
		"002/41 queries.shape")
	viewed := p.reshape(queries, 2, 6, 2, 1)
	p.size(viewed, "Another view of them: sequences, tokens, heads, the width of one head.",
		"002/42 viewed_queries.shape")
	p.size(p.row(viewed, 0), "The first sequence in this view.",
		"002/42 viewed_queries[0].shape")
	p.size(p.Of(graph.SplitHeads(queries, 2)), "As attention wants them: sequences, heads, tokens, the width of one head.",
		"walk/split queries.shape")
	return nil
}

func (p *page) newMultiHead() (*layers.Attention, error) {
	return layers.NewAttention(p.params.Scope("mha"), chapter.MultiHead(3, 2, 2))
}

// multiHead is the layer whose projections are split into heads.
func (p *page) multiHead() error {
	l, err := p.newMultiHead()
	if err != nil {
		return err
	}
	context := p.Of(l.Forward(p.build, p.twice(p.tokens())))
	p.tensor(context, "The context vectors of two heads of width 1, joined and projected.",
		"002/43 context_vecs")
	p.size(context, "Their size.",
		"002/43 context_vecs.shape")
	return nil
}
