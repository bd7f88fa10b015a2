package chapter

import "attention/layers"

var exerciseWeights = Section{
	Title: "Exercise 3.1: SelfAttentionV2's weights in SelfAttentionV1",
	Text:  "The layers of sections 5 and 6, and the first layer with the weights of the second.",
	Why: "The exercise asks for equal results of both layers. A linear layer computes x·Wᵀ and the first layer x·W, so " +
		"each weight has to be transposed. Both layers then compute the same products of the same numbers and agree in " +
		"every digit.",
	Words: sentence,
	Seed:  chapterSeed,
	build: func(w *walk) {
		// 789 is the chapter's seed for section 6.
		second := layers.NewParams(w.Params().Dtype(), w.section.Seed+789-chapterSeed)
		drawn := w.attentionIn(second.Scope(""), SelfV2(3, 2))
		v1, moved, v2 := w.newV1("v1"), w.newV1("moved"), w.newV2("v2")
		v2.setState(drawn)
		w.replace() // before the weights are moved
		moved.setState(v2)
		x := w.tokens()
		before, after, want := v1.forward(x), moved.forward(x), v2.forward(x)
		formula := w.whole(v1, x, "v1.")
		w.show(before, "v1(x)", "The context vectors of SelfAttentionV1 with its own weights (section 5).",
			w.words(), nil).exactly(formula)
		formula = w.whole(v2, x, "v2.")
		w.show(want, "v2(x)", "The context vectors of SelfAttentionV2 (section 6), with another seed.", w.words(), nil).
			exactly(formula)
		w.show(w.parameter("v2.W_query.weight"), "v2.W_query.weight",
			"Its query weight, in the layout of a linear layer.")
		w.show(w.parameter("moved.W_query"), "moved.W_query = v2.W_query.weightᵀ",
			"The same weight in a SelfAttentionV1: transposed.")
		w.movedWeights("moved.", "v2.")
		formula = w.whole(moved, x, "moved.")
		w.show(after, "moved(x)", "With all three moved, SelfAttentionV1 gives the result of SelfAttentionV2.",
			w.words(), nil).
			exactly(formula)
	},
}

var exerciseWidth = Section{
	Title: "Exercise 3.2: two numbers from two heads",
	Text:  "The wrapper of section 12 with heads of width 1.",
	Why: "The wrapper concatenates its heads, so the width of the result is the number of heads times d_out. For two " +
		"numbers from two heads d_out has to be 1, and nothing else changes. In later layers the width of the result is " +
		"given, and the heads divide it (section 13).",
	Words:    sentence,
	Seed:     chapterSeed,
	NumHeads: 2,
	layer:    Config{Layer: "multi_head_wrapper", EmbedDim: 3, OutDim: 1, NumHeads: 2},
	build: func(w *walk) {
		heads, x := w.attention("wrapper", MultiHeadWrapper(3, 1, w.section.NumHeads)), w.tokens()
		batch := w.twice(x)
		context := heads.forward(batch)
		w.partsOfHeads(x)
		weights := w.row(heads.weights(batch), 0)
		w.part(weights, "weights = softmax(masked / √1)", "The weights of each head for the first sequence.",
			w.headNames(), w.words(), w.words())
		w.joinedHeads(context, 1)
		w.show(context, "context = wrapper(batch)", "The context vectors: one column per head.",
			sequences, w.words(), w.columnsOfHeads(1)).exactly("stack(joined, joined)")
		w.shape(context, "context.shape", "Their shape: sequences, tokens, heads times 1.")
	},
}

var exerciseGPT2 = Section{
	Title: "Exercise 3.3: the attention of GPT-2 small",
	Text:  "The layer with 12 heads, width 768 and a context length of 1024, on five tokens.",
	Why: "These are the sizes of the smallest GPT-2: width 768 in and out, and 12 heads, so 64 numbers per head. Four " +
		"square matrices and a bias have 2,360,064 parameters. That model has twelve such layers. The context length adds " +
		"no parameter: the same layer takes five tokens or 1024.",
	Seed:     chapterSeed,
	NumHeads: 12,
	large:    true,
	layer:    Config{Layer: "multi_head", EmbedDim: 768, OutDim: 768, NumHeads: 12, ContextLength: 1024},
	build: func(w *walk) {
		c := MultiHead(768, 768, w.section.NumHeads)
		c.ContextLength = 1024
		mha := w.attention("mha", c)
		x := w.input("x", w.Params().Draw(layers.Normal(0, 1), 5, c.EmbedDim))
		context := mha.forward(x)
		w.number(c.OutDim/c.NumHeads, "head_dim", "The width of a head.")
		w.shape(w.parameter("mha.W_query.weight"), "W_query.weight.shape",
			"The shape of W_query's weight, and of W_key's, W_value's and out_proj's.")
		w.count(w.Learnables(), "parameters", "The number of parameters of the layer.")
		w.show(w.parameter("mha.W_query.weight"), "W_query.weight", "The beginning of the first weight.")
		w.shape(context, "context.shape", "The shape of the context vectors of five random tokens.")
	},
}
