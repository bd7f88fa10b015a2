package chapter

import (
	"math"

	"attention/graph"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// rawWeights returns W_query, W_key and W_value (3, 2), drawn like SelfV1's.
func (w *walk) rawWeights() (query, key, value *G.Node) {
	var nodes [3]*G.Node
	for i, r := range roles {
		p, err := w.Params().Scope("").Param(r.weight, layers.Uniform(0, 1), 3, 2)
		nodes[i] = w.Of(w.Node(p), err)
	}
	return nodes[0], nodes[1], nodes[2]
}

// keysAndValues returns the keys and values of tokens x, and makes parts of them and of their weights.
func (w *walk) keysAndValues(x, keyWeights, valueWeights *G.Node) (keys, values *G.Node) {
	keys, values = w.Of(graph.MatMul(x, keyWeights)), w.Of(graph.MatMul(x, valueWeights))
	w.part(keyWeights, "W_key", "The weights of the keys.")
	w.part(keys, "keys = x·W_key", roles[1].text, w.words(), nil)
	w.part(valueWeights, "W_value", "The weights of the values.")
	w.part(values, "values = x·W_value", roles[2].text, w.words(), nil)
	return keys, values
}

var stepByStep = Section{
	Title: "Weights to train, step by step",
	Text:  "Self-attention with weights to train, for the second token.",
	Why: "A token has three roles: it searches, other tokens find it, and it passes something on. Three matrices " +
		"compute one vector per role: the query, the key and the value. A token can therefore search for something else " +
		"than what it is, and attention need not be mutual. The matrices are learnt. The products, the softmax and the " +
		"division by √2, the root of a key's width, are fixed; the division keeps the scores where the softmax can learn " +
		"(section 17).",
	Words: sentence,
	Seed:  chapterSeed,
	build: func(w *walk) {
		x := w.tokens()
		queryWeights, keyWeights, valueWeights := w.rawWeights()
		w.inputs(x)
		w.show(queryWeights, "W_query", "The weights of the queries; keys and values have their own.")
		query := w.Of(graph.MatMul(w.row(x, 1), queryWeights))
		w.show(query, "query = x[1]·W_query", "The query of the second token: the token times these weights.")
		keys, values := w.keysAndValues(x, keyWeights, valueWeights)
		w.shape(keys, "keys.shape", "The shape of the keys: one per token.")
		w.shape(values, "values.shape", "The shape of the values: one per token.")

		scores := w.Of(graph.Linear(query, keys, nil)) // query·keys[s] for every s
		w.show(w.row(scores, 1), "score = query·keys[1]",
			"The score of the second token with itself: its query times its key.")
		w.show(scores, "scores = query·keysᵀ", "Its scores with all tokens.", w.words())
		weights := w.Of(graph.Softmax(w.Of(graph.Scale(scores, 1/math.Sqrt(2)))))
		w.show(weights, "weights = softmax(scores / √2)",
			"Its weights: the softmax of the scores over the root of a key's width.", w.words())
		context := w.Of(graph.MatMul(weights, values))
		w.show(context, "context = weights·values", "Its context vector: the sum of the values, each times its weight.")
	},
}

var fiveTokens = Section{
	Title: "The same steps with five tokens",
	Text:  "The same weights, for the second token of another input.",
	Why: "The matrices depend neither on positions nor on the number of tokens: the same eighteen numbers serve five " +
		"tokens as well as six. A score depends on its two tokens only, so the first four scores equal those of section " +
		"3. The weights share one sum, so all of them differ.",
	Words: append(sentence[:4:4], unknown),
	Seed:  chapterSeed,
	build: func(w *walk) {
		x := w.tokens()
		queryWeights, keyWeights, valueWeights := w.rawWeights()
		w.show(x, "x", "The tokens: in the chapter, four of the six and a new one.", w.words(), nil)
		query := w.Of(graph.MatMul(w.row(x, 1), queryWeights))
		w.part(queryWeights, "W_query", "The weights of the queries.")
		w.part(query, "query = x[1]·W_query", "The query of the second token.")
		keys, values := w.keysAndValues(x, keyWeights, valueWeights)
		w.shape(keys, "keys.shape", "The shape of their keys.")
		scores := w.Of(graph.Linear(query, keys, nil))
		w.show(scores, "scores = query·keysᵀ", "The scores of the second token.", w.words())
		weights := w.Of(graph.Softmax(w.Of(graph.Scale(scores, 1/math.Sqrt(2)))))
		w.show(weights, "weights = softmax(scores / √2)", "Its weights.", w.words())
		w.show(w.sum(weights), "weights.sum()", "The sum of these weights.").exactly("Σ weights")
		context := w.Of(graph.MatMul(weights, values))
		w.show(context, "context = weights·values", "Its context vector.")
	},
}
