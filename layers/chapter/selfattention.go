package chapter

import (
	"fmt"

	G "gorgonia.org/gorgonia"
)

func (w *walk) newV1(path string) attention { return w.attention(path, SelfV1(3, 2)) }

func (w *walk) newV2(path string) attention { return w.attention(path, SelfV2(3, 2)) }

// selfSteps shows the scores, weights and context vectors of a layer of one head, whose
// parameters have names that begin with path.
func (w *walk) selfSteps(l attention, path string, x *G.Node) {
	context, weights := l.forward(x), w.withoutHeads(l.weights(x))
	w.projections(x, path, "")
	w.show(w.queryKeyScores(x, path), "scores = q·kᵀ",
		"The scores of every token with every token: queries times keys.", w.words(), w.words())
	w.show(weights, "weights = softmax(scores / √2)", "The weights: the softmax of each row of scores over √2.",
		w.words(), w.words())
	w.show(context, "context = weights·v", "The context vectors of all tokens: weights times values.", w.words(), nil)
}

var selfAttentionV1 = Section{
	Title: "SelfAttentionV1: the steps as a layer",
	Text:  "Self-attention with weights to train, for all tokens.",
	Why: "A layer does all steps in one call. Its three matrices are parameters: nodes of the graph that gradients " +
		"reach and that training changes. The row of the second token equals section 3. The scores are no longer " +
		"symmetric, because query and key are different projections.",
	layer: Config{Layer: "self_v1", EmbedDim: 3, OutDim: 2},
	Words: sentence,
	Seed:  chapterSeed,
	build: func(w *walk) {
		w.selfSteps(w.newV1(""), "", w.tokens())
	},
}

var selfAttentionV2 = Section{
	Title: "SelfAttentionV2: linear projections",
	Text:  "The layer with linear projections, and the initial values of such a projection.",
	Why: "A linear layer computes the same product, but starts with better numbers: small numbers on both sides of 0, " +
		"at most 1/√3 for tokens of width 3. The first scores are then near 0 and the weights near 1/6. Every token " +
		"attends to all tokens alike, and training starts from there. The layer stores its weight as (out, in), the " +
		"transpose of section 5's.",
	layer: Config{Layer: "self_v2", EmbedDim: 3, OutDim: 2},
	Words: sentence,
	Seed:  789,
	build: func(w *walk) {
		v2, x := w.newV2("v2"), w.tokens()
		w.selfSteps(v2, "v2.", x)

		for number := 4; number <= 8; number++ { // after v2's three projections
			w.linear(x, fmt.Sprint(number), 3, 2)
		}
		w.show(w.parameter("8.weight"), "W_query.weight",
			"The initial weight of a projection: here the eighth after the seed.")
	},
}

var movedWeights = Section{
	Title: "Weights moved between the two layers",
	Text:  "A layer of each kind loads the weights of the other kind.",
	Why: "The two layers compute the same function. They differ in the initial values of their matrices and in the " +
		"layout. With the transposed weights of the other layer, each gives the other's numbers to the last digit. So " +
		"everything that a layer has learnt is in its parameters, and a model can move from one program to another.",
	Words: sentence,
	Seed:  chapterSeed,
	build: func(w *walk) {
		v2, v1 := w.newV2("v2"), w.newV1("v1")
		fromV2, fromV1 := w.newV1("from_v2"), w.newV2("from_v1")
		w.replace() // before the weights are moved
		fromV2.setState(v2)
		fromV1.setState(v1) // transposed
		x := w.tokens()
		show := func(l attention, path, from, line, text string) {
			context := l.forward(x)
			if from != "" {
				w.movedWeights(path, from)
			}
			formula := w.whole(l, x, path)
			w.show(context, line, text, w.words(), nil).exactly(formula)
		}
		show(v2, "v2.", "", "v2(x)", "The context vectors of a SelfAttentionV2.")
		show(fromV2, "from_v2.", "v2.", "from_v2(x)",
			"A SelfAttentionV1 with these weights, transposed, gives the same.")
		show(v1, "v1.", "", "v1(x)", "The context vectors of a SelfAttentionV1.")
		show(fromV1, "from_v1.", "v1.", "from_v1(x)",
			"A SelfAttentionV2 with these weights, transposed, gives the same.")
	},
}
