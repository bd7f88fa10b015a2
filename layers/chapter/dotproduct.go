package chapter

import "attention/graph"

var oneQuery = Section{
	Title: "Simple self-attention for one token",
	Text:  "Self-attention without weights to train, for the second token.",
	Why: "The vector of a word is the same in every sentence; attention makes a new one that tells of the words " +
		"around it. How much each of them counts is read off dot products, which are large where two vectors " +
		"are long and point the same way. The softmax makes shares of them: none negative, together 1, the " +
		"larger ones favoured.",
	Words: sentence,
	build: func(w *walk) {
		x := w.tokens()
		w.show(x, "x", "The tokens, three numbers each.", w.words(), nil)
		scores := w.Of(graph.Linear(w.row(x, 1), x, nil)) // x[1]·x[s] for every s
		w.show(scores, "scores = x[1]·xᵀ", "The second token asks: its scores are its dot products with all tokens.",
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
		w.show(weights, "weights = softmax(scores)", "The same softmax, computed so that no score is too large for it.",
			w.words())
		w.show(w.sum(weights), "weights.sum()", "The sum of these weights.").exactly("Σ weights")

		context := w.Of(graph.MatMul(weights, x))
		w.show(context, "context = weights·x", "The context vector: the tokens, each times its weight, added up.")
	},
}

var allQueries = Section{
	Title: "Simple self-attention for all tokens",
	Text:  "The same for every token at once.",
	Why: "No token waits for the result of another, so all of them are two products of matrices, and any two tokens " +
		"meet in one step, however far apart. Nothing is learnt yet: the scores follow from the vectors alone, " +
		"so there is no way to change who looks at whom.",
	layer: Config{Layer: "simple", EmbedDim: 3},
	Words: sentence,
	build: func(w *walk) {
		x := w.tokens()
		scores := w.Of(graph.Scores(x, x))
		w.inputs(x)
		w.show(scores, "scores = x·xᵀ", "Every token asks: each row holds the scores of one token with all tokens.",
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
