package chapter

import (
	"fmt"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// headNames are the names of a section's heads.
func (w *walk) headNames() (names []string) {
	for h := range w.section.NumHeads {
		names = append(names, fmt.Sprintf("head %d", h))
	}
	return names
}

// columnsOfHeads are the names of the columns of heads side by side, of width d each.
func (w *walk) columnsOfHeads(d int) (names []string) {
	for _, head := range w.headNames() {
		for range d {
			names = append(names, head)
		}
	}
	return names
}

var headsSideBySide = Section{
	Title: "MultiHeadAttentionWrapper: heads side by side",
	Text:  "Causal layers, called heads, whose context vectors are joined.",
	Why: "One head has one softmax a token: a single 1 to share among all that might matter. Several heads with matrices " +
		"of their own can look at several things at once, each with a 1 of its own. Their context vectors stand side " +
		"by side, so two heads of width 2 give four numbers.",
	layer:    Config{Layer: "multi_head_wrapper", EmbedDim: 3, OutDim: 2, NumHeads: 2},
	Words:    sentence,
	Seed:     chapterSeed,
	NumHeads: 2,
	drops:    true,
	build: func(w *walk) error {
		heads, err := w.newWrapper()
		if err != nil {
			return err
		}
		batch := w.twice(w.tokens())
		context := w.Of(heads.Forward(w.Build, batch))
		weights := w.Of(heads.Weights(w.Build, layers.AttentionInput{Query: batch})) // (2, H, T, T)
		w.show(w.row(weights, 0), "weights = softmax(masked / √2)",
			w.dropped("The weights of each head for the first sequence"), w.headNames(), w.words(), w.words())
		w.show(context, "context = [head_0(batch), …]",
			"The context vectors: two columns of each causal layer, side by side.", sequences, w.words(), w.columnsOfHeads(2))
		w.shape(context, "context.shape", "Their size.")
		return nil
	},
}

var splitProjection = Section{
	Title: "One projection split into heads",
	Text:  "The queries of all heads by one projection.",
	Why: "One large product is faster than several small ones. The matrices of all heads stacked are one matrix, and its " +
		"result is cut into heads by another view of the same numbers: nothing is computed differently, and nothing " +
		"more is learnt.",
	Words:    sentence,
	Seed:     chapterSeed,
	NumHeads: 2,
	build: func(w *walk) error {
		heads, t := w.section.NumHeads, len(w.words())
		l, err := layers.NewLinear(w.Params().Scope("W_query"), layers.LinearConfig{In: 3, Out: heads})
		if err != nil {
			return err
		}
		queries := w.Of(l.Forward(w.Build, w.twice(w.tokens()))) // (2, T, H·1)
		w.show(queries, "queries = batch·W_query.weightᵀ", "The queries of all heads, made by one projection.",
			sequences, w.words(), w.columnsOfHeads(1))
		w.shape(queries, "queries.shape", "Their size: sequences, tokens, the width of all heads.")
		viewed := w.reshape(queries, 2, t, heads, 1)
		w.shape(viewed, "viewed.shape", "Another view of them: sequences, tokens, heads, the width of one head.")
		w.shape(w.row(viewed, 0), "viewed[0].shape", "The first sequence in this view.")
		split := w.Of(graph.SplitHeads(queries, heads)) // (2, H, T, 1)
		w.shape(split, "split.shape", "As attention wants them: sequences, heads, tokens, the width of one head.")
		return nil
	},
}

func (w *walk) newMultiHead(heads int) (*layers.Attention, error) {
	c := MultiHead(3, heads, heads)
	c.Dropout = w.section.Dropout
	return layers.NewAttention(w.Params().Scope("mha"), c)
}

// headScores are the scores (H, T, T) of one sequence x by each head of the layer mha.
func (w *walk) headScores(x *G.Node) *G.Node {
	split := func(name string) *G.Node {
		return w.Of(graph.SplitHeads(w.projected(x, "mha."+name), w.section.NumHeads))
	}
	return w.Of(graph.Scores(split("W_query"), split("W_key")))
}

var multiHead = Section{
	Title: "MultiHeadAttention: heads in one layer",
	Text:  "The layer whose projections are split into heads.",
	Why: "Joined, the heads still stand in columns of their own. The output projection out_proj mixes them into one " +
		"vector, learning how much of each head belongs where. This is the attention of GPT: four matrices and a bias " +
		"are learnt; heads, mask, scale and softmax are fixed.",
	layer:    Config{Layer: "multi_head", EmbedDim: 3, OutDim: 2, NumHeads: 2},
	Words:    sentence,
	Seed:     chapterSeed,
	NumHeads: 2,
	drops:    true,
	build: func(w *walk) error {
		mha, err := w.newMultiHead(w.section.NumHeads)
		if err != nil {
			return err
		}
		x := w.tokens()
		batch := w.twice(x)
		context := w.Of(mha.Forward(w.Build, batch))
		weights := w.row(w.Of(mha.Weights(w.Build, layers.AttentionInput{Query: batch})), 0) // (H, T, T)
		values := w.Of(graph.SplitHeads(w.projected(x, "mha.W_value"), w.section.NumHeads))  // (H, T, 1)
		masked := w.Of(graph.MaskFill(w.headScores(x), mask.Causal{}))
		w.show(masked, "masked = fill(q·kᵀ)", "The scores of each head, of width 1, for the first sequence.",
			w.headNames(), w.words(), w.words())
		w.show(weights, "weights = softmax(masked / √1)", w.dropped("Their softmax"), w.headNames(), w.words(), w.words())
		joined := w.Of(graph.MergeHeads(w.Of(graph.MatMul(weights, values)))) // (T, H)
		w.show(joined, "joined = weights·v", "The context vectors of the heads, side by side.",
			w.words(), w.columnsOfHeads(1))
		w.show(context, "context = joined·out_proj.weightᵀ + out_proj.bias",
			"The same projected, for both sequences: what the layer returns.", sequences, w.words(), nil)
		w.shape(context, "context.shape", "Their size.")
		return nil
	},
}
