package chapter

import (
	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
)

// linearPart is linear that shows the weight as a part.
func (w *walk) linearPart(x *G.Node, name string, in, out int, text string) *G.Node {
	y := w.linear(x, name, in, out)
	w.part(w.parameter(name+".weight"), name+".weight", text)
	return y
}

var latentKeys = Section{
	Title: "After the book: a latent in place of keys and values",
	Text:  "The keys of a head, computed from one narrow vector per token (DeepSeek-V2: DeepSeek-AI 2024).",
	Why: "Heads that share keys all see the same key of a token. A latent is as narrow, but each head computes its own " +
		"key and value from it with learnt matrices. The keys need not exist: a score q·(c·W)ᵀ equals (q·W)·cᵀ, so the " +
		"matrix can be multiplied into the query, and the cache stores latents only. The cost is more products for each " +
		"new token, because its query is then as wide as the latent. The gain is the smallest cache with which every head " +
		"still has its own keys.",
	Words: sentence,
	Seed:  chapterSeed,
	build: func(w *walk) {
		const D, N = 2, 1
		x := w.tokens()
		w.inputs(x)
		q := w.linearPart(x, "W_query", 3, D, "The weights of the queries.")
		c := w.linearPart(x, "W_down", 3, N, "The weights of the latents.")
		k := w.linearPart(c, "W_up", N, D, "The weights of the keys.")
		w.part(q, "q = x·W_query.weightᵀ", roles[0].text, w.words(), nil)
		w.show(c, "c = x·W_down.weightᵀ", "The latents: one number per token, which all heads share.", w.words(), nil)
		w.show(k, "k = c·W_up.weightᵀ", "The keys of a head, computed from the latents.", w.words(), nil)
		w.show(w.Of(graph.Scores(q, k)), "scores = q·kᵀ", "The scores.", w.words(), w.words())
		asked := w.Of(graph.MatMul(q, w.parameter("W_up.weight"))) // (T, N)
		w.show(asked, "asked = q·W_up.weight", "The queries, multiplied by the matrix of the keys.", w.words(), nil)
		w.show(w.Of(graph.Scores(asked, c)), "same = asked·cᵀ", "The same scores from the latents, without any key.",
			w.words(), w.words())
		w.number(2*D, "kept as keys and values", "Numbers per token in a cache, for each head with keys and values.")
		w.number(N, "kept as latents", "Numbers per token in the cache here, for all heads.")
	},
}

var twoSoftmaxes = Section{
	Title: "After the book: the difference of two softmaxes",
	Text:  "Weights from which a part of other weights is subtracted (Ye et al. 2024).",
	Why: "A softmax gives every token some weight, and in a long text the small weights add up to noise. Two softmaxes " +
		"with their own queries and keys have nearly the same noise, so their difference cancels it, as with a pair of " +
		"microphones, and keeps what only the first attends to. The factor λ of the second softmax is learnt; here it is " +
		"0.5. The cost is a second softmax for each value, and weights may be negative. The gain is weights of 0 where " +
		"there is nothing to see.",
	Words: sentence,
	Seed:  chapterSeed,
	build: func(w *walk) {
		const D = 2
		x := w.tokens()
		w.inputs(x)
		split := func(name, text string) *G.Node {
			return w.Of(graph.SplitHeads(w.linearPart(x, name, 3, 2*D, text), 2))
		}
		q, k := split("W_query", "The weights of both queries."), split("W_key", "The weights of both keys.")
		v := w.linearPart(x, "W_value", 3, D, "The weights of the values.")
		w.part(q, "q = split(x·W_query.weightᵀ, 2)", "The queries of both softmaxes.", nil, w.words(), nil)
		w.part(k, "k = split(x·W_key.weightᵀ, 2)", "The keys of both softmaxes.", nil, w.words(), nil)
		w.part(v, "v = x·W_value.weightᵀ", roles[2].text, w.words(), nil)
		weights := func(i int) *G.Node {
			_, of := w.Of2(graph.Attention(w.row(q, i), w.row(k, i), v, graph.AttentionConfig{Mask: mask.Causal{}}))
			return of
		}
		first, second := weights(0), weights(1)
		w.show(first, "first = softmax(fill(q[0]·k[0]ᵀ) / √2)", "The weights of the first softmax.", w.words(), w.words())
		w.show(second, "second = softmax(fill(q[1]·k[1]ᵀ) / √2)", "The weights of the second.", w.words(), w.words())
		difference := w.Of(graph.Sub(first, w.Of(graph.Scale(second, 0.5))))
		w.show(difference, "weights = first − second / 2", "The first weights minus half of the second.", w.words(),
			w.words()).exactly("first + second / -2")
		w.show(w.Of(graph.MatMul(difference, v)), "context = weights·v",
			"The context vectors. A norm then restores their length.", w.words(), nil)
	},
}
