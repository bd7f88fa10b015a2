package chapter

import (
	"fmt"
	"strings"

	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
)

// headNames returns the names of the section's heads.
func (w *walk) headNames() (names []string) {
	for h := range w.section.NumHeads {
		names = append(names, fmt.Sprintf("head %d", h))
	}
	return names
}

// columnsOfHeads returns the names of the columns of heads side by side, each of width d.
func (w *walk) columnsOfHeads(d int) (names []string) {
	for _, head := range w.headNames() {
		for range d {
			names = append(names, head)
		}
	}
	return names
}

// partsOfHeads adds parts for all steps of the heads of the layer wrapper on x, up to their scores.
func (w *walk) partsOfHeads(x *G.Node) {
	var masked G.Nodes
	var formulas []string
	for h := range w.section.NumHeads {
		path, prefix := fmt.Sprintf("wrapper.heads.%d.", h), fmt.Sprintf("head_%d.", h)
		w.projections(x, path, prefix)
		masked = append(masked, w.Of(graph.MaskFill(w.queryKeyScores(x, path), mask.Causal{})))
		formulas = append(formulas, fmt.Sprintf("fill(%sq·%skᵀ)", prefix, prefix))
	}
	w.part(w.stack(masked), "masked = stack("+strings.Join(formulas, ", ")+")",
		"The scores of each head, minus infinity where hidden.", w.headNames(), w.words(), w.words())
}

// joinedHeads makes the part with the first sequence's context vectors (T, H·d), where each head has width d.
func (w *walk) joinedHeads(context *G.Node, d int) {
	var formulas []string
	for h := range w.section.NumHeads {
		formulas = append(formulas, fmt.Sprintf("weights[%d]·head_%d.v", h, h))
	}
	w.part(w.row(context, 0), "joined = join("+strings.Join(formulas, ", ")+")",
		"The context vectors of the heads, side by side.", w.words(), w.columnsOfHeads(d))
}

var headsSideBySide = Section{
	Title: "MultiHeadAttentionWrapper: heads side by side",
	Text:  "Causal layers, called heads, whose context vectors are concatenated.",
	Why: "One head has one softmax per token: a single 1 to divide among all tokens that might matter. Several heads " +
		"with their own matrices can attend to several things, each with its own 1. Their context vectors are " +
		"concatenated, so two heads of width 2 give four numbers.",
	layer:    Config{Layer: "multi_head_wrapper", EmbedDim: 3, OutDim: 2, NumHeads: 2},
	Words:    sentence,
	Seed:     chapterSeed,
	NumHeads: 2,
	drops:    true,
	build: func(w *walk) {
		heads, x := w.newWrapper(), w.tokens()
		batch := w.twice(x)
		context, weights := heads.forward(batch), heads.weights(batch) // (2, H, T, T)
		w.partsOfHeads(x)
		w.show(w.row(weights, 0), "weights = softmax(masked / √2)",
			w.dropped("The weights of each head for the first sequence"), w.headNames(), w.words(), w.words()).
			exactly(w.unlessDropped("softmax(masked / √2)"))
		w.joinedHeads(context, 2)
		w.show(context, "context = [head_0(batch), …]",
			"The context vectors: two columns from each causal layer, side by side.", sequences, w.words(),
			w.columnsOfHeads(2)).
			exactly(w.unlessDropped("stack(joined, joined)"))
		w.shape(context, "context.shape", "Their shape.")
	},
}

var splitProjection = Section{
	Title: "One projection split into heads",
	Text:  "The queries of all heads by one projection.",
	Why: "One large product is faster than several small ones. The matrices of all heads are stacked into one matrix, " +
		"and another view of its result splits it into heads. The numbers stay the same, and nothing more is learnt.",
	Words:    sentence,
	Seed:     chapterSeed,
	NumHeads: 2,
	build: func(w *walk) {
		heads, t := w.section.NumHeads, len(w.words())
		x := w.tokens()
		batch := w.twice(x)
		queries := w.linear(batch, "W_query", 3, heads) // (2, T, H·1)
		w.inputs(x)
		w.part(batch, "batch = stack(x, x)", "A batch: the tokens twice.", sequences, w.words(), nil)
		w.part(w.parameter("W_query.weight"), "W_query.weight", "The weights of the queries, a row for each head.")
		w.show(queries, "queries = batch·W_query.weightᵀ", "The queries of all heads, made by one projection.",
			sequences, w.words(), w.columnsOfHeads(1))
		w.shape(queries, "queries.shape", "Their shape: sequences, tokens, the width of all heads.")
		viewed := w.reshape(queries, 2, t, heads, 1)
		w.shape(viewed, "viewed.shape", "Another view of them: sequences, tokens, heads, the width of one head.")
		w.shape(w.row(viewed, 0), "viewed[0].shape", "The first sequence in this view.")
		split := w.Of(graph.SplitHeads(queries, heads)) // (2, H, T, 1)
		w.shape(split, "split.shape", "The order that attention needs: sequences, heads, tokens, width of a head.")
	},
}

func (w *walk) newMultiHead(heads int) attention {
	c := MultiHead(3, heads, heads)
	c.Dropout = w.section.Dropout
	return w.attention("mha", c)
}

// headScores returns the scores (H, T, T) of each head of the layer mha for one sequence x.
func (w *walk) headScores(x *G.Node) *G.Node {
	split := func(name string) *G.Node {
		return w.Of(graph.SplitHeads(w.projected(x, "mha."+name), w.section.NumHeads))
	}
	return w.Of(graph.Scores(split("W_query"), split("W_key")))
}

// splitParts adds parts for the weights of the layer mha, and for the queries, keys and values (H, T, D) of each head,
// for one sequence x.
func (w *walk) splitParts(x *G.Node) {
	for _, r := range roles {
		name := "mha." + r.weight
		w.part(w.parameter(name+".weight"), name+".weight", "The weights of the "+r.word+" of all heads.")
		split := w.Of(graph.SplitHeads(w.projected(x, name), w.section.NumHeads))
		w.part(split, fmt.Sprintf("%s = split(x·%s.weightᵀ, %d)", r.result, name, w.section.NumHeads), r.text,
			w.headNames(), w.words(), nil)
	}
}

var multiHead = Section{
	Title: "MultiHeadAttention: heads in one layer",
	Text:  "The layer whose projections are split into heads.",
	Why: "In the concatenated vector each head still has its own columns. The output projection out_proj mixes them " +
		"into one vector and learns how much of each head to use. This is the attention of GPT. Four matrices and a bias " +
		"are learnt; the heads, the mask, the scale and the softmax are fixed.",
	layer:    Config{Layer: "multi_head", EmbedDim: 3, OutDim: 2, NumHeads: 2},
	Words:    sentence,
	Seed:     chapterSeed,
	NumHeads: 2,
	drops:    true,
	build: func(w *walk) {
		mha, x := w.newMultiHead(w.section.NumHeads), w.tokens()
		batch := w.twice(x)
		context, weights := mha.forward(batch), w.row(mha.weights(batch), 0) // (H, T, T)
		w.inputs(x)
		w.splitParts(x)
		values := w.Of(graph.SplitHeads(w.projected(x, "mha.W_value"), w.section.NumHeads)) // (H, T, 1)
		masked := w.Of(graph.MaskFill(w.headScores(x), mask.Causal{}))
		w.show(masked, "masked = fill(q·kᵀ)", "The scores of each head, of width 1, for the first sequence.",
			w.headNames(), w.words(), w.words())
		w.show(weights, "weights = softmax(masked / √1)", w.dropped("Their softmax"), w.headNames(),
			w.words(), w.words()).
			exactly(w.unlessDropped("softmax(masked / √1)"))
		joined := w.Of(graph.MergeHeads(w.Of(graph.MatMul(weights, values)))) // (T, H)
		w.show(joined, "joined = weights·v", "The context vectors of the heads, side by side.",
			w.words(), w.columnsOfHeads(1)).exactly("merge(weights·v)")
		w.part(w.parameter("mha.out_proj.weight"), "mha.out_proj.weight", "The weights of the output projection.")
		w.part(w.parameter("mha.out_proj.bias"), "mha.out_proj.bias", "Its bias.")
		w.part(w.row(context, 0), "projected = joined·mha.out_proj.weightᵀ + mha.out_proj.bias",
			"The heads' context vectors, mixed.", w.words(), nil)
		w.show(context, "context = joined·out_proj.weightᵀ + out_proj.bias",
			"Their output projection, for both sequences: the result of the layer.", sequences, w.words(), nil).
			exactly(w.unlessDropped("stack(projected, projected)"))
		w.shape(context, "context.shape", "Their shape.")
	},
}
