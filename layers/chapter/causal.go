package chapter

import (
	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
)

var maskByZeros = Section{
	Title: "A causal mask of zeros",
	Text:  "Later tokens are masked after the softmax.",
	Why: "A model that writes text must not see the word that it predicts, because it would learn to copy it. So the " +
		"weights of later tokens are set to 0, and the other weights are divided by their sum. Nothing of the masked " +
		"tokens leaks through: the sum of the softmax contains their scores, but it divides every weight of the row " +
		"alike, and the second division cancels it.",
	Words: sentence,
	Seed:  789,
	build: func(w *walk) {
		v2, x := w.newV2(""), w.tokens()
		weights := w.withoutHeads(v2.weights(x))
		w.projections(x, "", "")
		w.show(weights, "weights = softmax(q·kᵀ / √2)",
			"The attention weights of SelfAttentionV2: every token sees every token.", w.words(), w.words())
		ones := w.ones()
		mask := w.Of(graph.Tril(ones))
		w.part(ones, "ones", "A matrix of ones.", w.words(), w.words())
		w.show(mask, "mask = tril(ones)", "The mask: a token may see itself and the tokens before it.", w.words(), w.words())
		masked := w.Of(graph.Mul(weights, mask))
		w.show(masked, "masked = weights⊙mask", "Weights times mask: masked tokens have weight 0.",
			w.words(), w.words())
		normed := w.Of(graph.DivideBySum(masked))
		w.show(normed, "normed = masked / Σ masked",
			"Divided by their sum, the weights of each row add up to 1 again.", w.words(), w.words())
	},
}

// queriesKeysAndValues returns the projections of SelfAttentionV2 of tokens.
func (w *walk) queriesKeysAndValues(x *G.Node) (q, k, v *G.Node) {
	q, k, v = w.linear(x, "W_query", 3, 2), w.linear(x, "W_key", 3, 2), w.linear(x, "W_value", 3, 2)
	w.projections(x, "", "")
	return q, k, v
}

// causalWeights returns softmax(fill(q·kᵀ)/√D).
func (w *walk) causalWeights(q, k *G.Node) *G.Node {
	_, weights := w.Of2(graph.Attention(q, k, k, graph.AttentionConfig{Mask: mask.Causal{}}))
	return weights
}

var maskByInfinity = Section{
	Title: "A causal mask of minus infinity",
	Text:  "Later tokens are masked before the softmax.",
	Why: "The exponential of a score of −∞ is exactly 0, so the softmax divides its 1 among the visible tokens only. " +
		"The weights equal those of section 8, with one step less. A masked token is in no sum, and no gradient reaches " +
		"it. The mask is fixed and never learnt.",
	Words: sentence,
	Seed:  789,
	build: func(w *walk) {
		q, k, _ := w.queriesKeysAndValues(w.tokens())
		scores := w.Of(graph.Scores(q, k))
		w.show(scores, "scores = q·kᵀ", "The scores of every token with every token.", w.words(), w.words())
		masked := w.Of(graph.MaskFill(scores, mask.Causal{}))
		w.show(masked, "masked = fill(scores)", "The scores, minus infinity where a token may not be seen.",
			w.words(), w.words())
		w.show(w.causalWeights(q, k), "weights = softmax(masked / √2)",
			"Their scaled softmax: masked tokens have weight 0, and each row adds up to 1.", w.words(), w.words())
	},
}

// newCausal makes the chapter's CausalAttention, whose parameters are drawn after the mask of dropout.
func (w *walk) newCausal() attention {
	drawMask(w.Params(), dropProbability, 6)
	c := Causal(3, 2)
	c.Dropout = w.section.Dropout
	return w.attention("causal", c)
}

var causalAttention = Section{
	Title: "CausalAttention on a batch",
	Text:  "The causal layer on a batch of two.",
	Why: "A batch is several sequences in one tensor. They share the matrices of the layer and never see each other, so " +
		"two equal sequences give equal results. The context length is the longest sequence that a model accepts. The " +
		"book's class stores a mask of that size; this layer makes the mask for the sequence that it gets.",
	layer: Config{Layer: "causal", EmbedDim: 3, OutDim: 2},
	drops: true,
	Words: sentence,
	Seed:  chapterSeed,
	build: func(w *walk) {
		causal, x := w.newCausal(), w.tokens()
		batch := w.twice(x)
		w.inputs(x)
		w.show(batch, "batch = stack(x, x)", "A batch: the tokens twice.", sequences, w.words(), nil)
		w.shape(batch, "batch.shape", "Its shape: sequences, tokens, numbers per token.")
		context, weights := causal.forward(batch), causal.weights(batch) // (2, 1, T, T)
		w.projections(x, "causal.", "")
		masked := w.Of(graph.MaskFill(w.queryKeyScores(x, "causal."), mask.Causal{}))
		w.show(masked, "masked = fill(q·kᵀ)", "The scores of the first sequence, minus infinity where hidden.",
			w.words(), w.words())
		w.show(w.withoutHeads(w.row(weights, 0)), "weights = softmax(masked / √2)", w.dropped("Its weights"),
			w.words(), w.words()).
			exactly(w.unlessDropped("softmax(masked / √2)"))
		w.show(context, "context = causal(batch)",
			"The context vectors: no token sees a later token, no sequence another.", sequences, w.words(), nil).
			exactly(w.unlessDropped("stack(weights·v, weights·v)"))
		w.shape(context, "context.shape", "Their shape.")
	},
}

// newWrapper makes the heads of the chapter's MultiHeadAttentionWrapper, whose parameters are drawn after newCausal's.
func (w *walk) newWrapper() attention {
	w.newCausal()
	c := MultiHeadWrapper(3, 2, w.section.NumHeads)
	c.Dropout = w.section.Dropout
	return w.attention("wrapper", c)
}
