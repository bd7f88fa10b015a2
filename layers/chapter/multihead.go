package chapter

import (
	"attention/graph"
	"attention/layers"
)

var headsSideBySide = Section{
	Title: "MultiHeadAttentionWrapper: heads side by side",
	Text:  "Two causal layers whose context vectors are joined.",
	Seed:  123,
	build: func(w *walk) error {
		if _, err := w.newCausal(); err != nil { // drawn before the heads
			return err
		}
		heads, err := layers.NewAttention(w.Params().Scope("wrapper"), MultiHeadWrapper(3, 2, 2))
		if err != nil {
			return err
		}
		context := w.Of(heads.Forward(w.Build, w.twice(w.tokens())))
		w.show(context, "context = [head_0(batch), head_1(batch)]",
			"The context vectors: two columns of the one causal layer, two of the other.")
		w.shape(context, "context.shape", "Their size.")
		return nil
	},
}

var splitProjection = Section{
	Title: "One projection split into heads",
	Text:  "The queries of two heads by one projection.",
	Seed:  123,
	build: func(w *walk) error {
		l, err := layers.NewLinear(w.Params().Scope("W_query"), layers.LinearConfig{In: 3, Out: 2})
		if err != nil {
			return err
		}
		queries := w.Of(l.Forward(w.Build, w.twice(w.tokens()))) // (2, 6, 2)
		w.show(queries, "queries = batch·W_query.weightᵀ", "The queries of two heads, made by one projection.")
		w.shape(queries, "queries.shape", "Their size: sequences, tokens, the width of both heads.")
		viewed := w.reshape(queries, 2, 6, 2, 1)
		w.shape(viewed, "viewed.shape", "Another view of them: sequences, tokens, heads, the width of one head.")
		w.shape(w.row(viewed, 0), "viewed[0].shape", "The first sequence in this view.")
		split := w.Of(graph.SplitHeads(queries, 2)) // (2, 2, 6, 1)
		w.shape(split, "split.shape", "As attention wants them: sequences, heads, tokens, the width of one head.")
		return nil
	},
}

func (w *walk) newMultiHead() (*layers.Attention, error) {
	return layers.NewAttention(w.Params().Scope("mha"), MultiHead(3, 2, 2))
}

var multiHead = Section{
	Title: "MultiHeadAttention: heads in one layer",
	Text:  "The layer whose projections are split into heads.",
	Seed:  123,
	build: func(w *walk) error {
		mha, err := w.newMultiHead()
		if err != nil {
			return err
		}
		context := w.Of(mha.Forward(w.Build, w.twice(w.tokens())))
		w.show(context, "context = mha(batch)", "The context vectors of two heads of width 1, joined and projected.")
		w.shape(context, "context.shape", "Their size.")
		return nil
	},
}
