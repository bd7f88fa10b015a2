package chapter

import "attention/graph"

var oneQuery = Section{
	Title: "Simple self-attention for one token",
	Text:  "Self-attention without weights to train, for the second token.",
	Why: "The vector of a word is the same in every sentence. Attention computes a new vector that also contains " +
		"something of the words around it. Dot products decide how much of each word: a dot product is large if both " +
		"vectors are long and point in the same direction. The softmax turns the dot products into weights that are " +
		"positive and add up to 1. A larger score gets a larger weight.",
	Words: sentence,
	build: func(w *walk) {
		x := w.tokens()
		w.show(x, "x", "The tokens, three numbers each.", w.words(), nil)
		scores := w.Of(graph.Linear(w.row(x, 1), x, nil)) // x[1]·x[s] for every s
		w.show(scores, "scores = x[1]·xᵀ", "The scores of the second token: its dot products with all tokens.",
			w.words())

		weights := w.Of(graph.DivideBySum(scores))
		w.show(weights, "weights_tmp = scores / Σ scores", "Divided by their sum, the scores become weights.",
			w.words())
		w.show(w.sum(weights), "weights_tmp.sum()", "The sum of these weights.").exactly("Σ weights_tmp")

		weights = w.Of(graph.DivideBySum(w.Of(graph.Exp(scores))))
		w.show(weights, "weights_naive = exp(scores) / Σ exp(scores)",
			"The softmax by its formula: exponentials of the scores, divided by their sum.", w.words())
		w.show(w.sum(weights), "weights_naive.sum()", "The sum of these weights.").exactly("Σ weights_naive")

		weights = w.Of(graph.Softmax(scores))
		w.show(weights, "weights = softmax(scores)", "The same softmax, computed without overflow for large scores.",
			w.words())
		w.show(w.sum(weights), "weights.sum()", "The sum of these weights.").exactly("Σ weights")

		context := w.Of(graph.MatMul(weights, x))
		w.show(context, "context = weights·x", "The context vector: the sum of the tokens, each times its weight.")
	},
}

var allQueries = Section{
	Title: "Simple self-attention for all tokens",
	Text:  "The same computation for all tokens.",
	Why: "No token needs the result of another token, so two matrix products compute all tokens. Any two tokens are " +
		"connected in one step, however far they are from each other. Nothing is learnt yet: the scores follow from the " +
		"vectors, and no number can change which token attends to which.",
	layer: Config{Layer: "simple", EmbedDim: 3},
	Words: sentence,
	build: func(w *walk) {
		x := w.tokens()
		scores := w.Of(graph.Scores(x, x))
		w.inputs(x)
		w.show(scores, "scores = x·xᵀ", "The scores: each row has the scores of one token with all tokens.",
			w.words(), w.words())
		context := w.Of(SimpleSelfAttention{}.Forward(w.Build, x))
		weights := w.withoutHeads(w.Of(SimpleSelfAttention{}.Weights(w.Build, x)))
		w.show(weights, "weights = softmax(scores)", "The attention weights: the softmax of each row.",
			w.words(), w.words())
		w.show(w.sum(weights, 1), "weights.sum(1)", "The sum of each row of weights.", w.words()).
			exactly("Σ weights")
		w.show(context, "context = weights·x", "The context vectors, one for each token.", w.words(), nil)
	},
}
