package chapter

var additive = Section{
	Title: "Where attention began: additive attention",
	Text:  "The attention of a translator's decoder to the source sentence (Bahdanau, Cho and Bengio 2014).",
	Why: "Earlier translators compressed a sentence into one state and forgot the beginning of long sentences. " +
		"Bahdanau's attention lets the decoder look back at every word of the source. A small network computes the scores " +
		"and is learnt with the model, so queries and keys may differ in width. The softmax and the weighted sum are the " +
		"same as in later attention, whose dot product is only cheaper.",
	layer: Config{Layer: "additive", QueryDim: 3, KeyDim: 3, AttnDim: 4},
	Words: sentence,
	Seed:  chapterSeed,
	build: func(w *walk) {
		stateNames := []string{"state 0", "state 1"}
		l, err := NewAdditive(w.Params().Scope(""), Config{QueryDim: 2, KeyDim: 3, AttnDim: 4})
		if w.keep(err); err != nil {
			return
		}
		states := w.numbers("states", []float64{
			0.3, 0.9,
			0.8, 0.1,
		}, 2, 2)
		w.show(states, "states", "A decoder's states before the two words that it writes next.", stateNames, nil)
		x := w.tokens()
		weights := w.withoutHeads(w.Of(l.Weights(w.Build, states, x)))
		context := w.Of(l.Forward(w.Build, states, x))
		w.inputs(x)
		queries, keys := w.projected(states, "W_query"), w.projected(x, "W_key")
		w.part(w.parameter("W_query.weight"), "W_query.weight", "The weights of the queries.")
		w.part(queries, "q = states·W_query.weightᵀ", "The queries: what each state asks for.", stateNames, nil)
		w.part(w.parameter("W_key.weight"), "W_key.weight", "The weights of the keys.")
		w.part(keys, "k = x·W_key.weightᵀ", roles[1].text, w.words(), nil)
		w.part(w.parameter("v.weight"), "v.weight", "The weights of the small network's last layer.")
		w.show(weights, "weights = softmax(v·tanh(W_query·states + W_key·x))",
			"How much each word attends to the tokens of the source.", stateNames, w.words()).
			exactly("softmax(additive(q, k, v.weight))")
		w.show(context, "context = weights·x",
			"The context vector of each word: the sum of the tokens times their weights.", stateNames, nil)
	},
}
