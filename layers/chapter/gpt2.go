package chapter

import (
	"strings"

	"attention/layers"

	G "gorgonia.org/gorgonia"
)

var gpt2Small = Section{
	Title: "MultiHeadAttention in the size of GPT-2 small",
	Text:  "Multi-head attention in the size of the smallest GPT-2, forward and backward.",
	Why: "The same layer in the size of a real model: 768 numbers a token, 12 heads of 64, 1024 tokens. How many " +
		"numbers it learns depends neither on the tokens nor on the heads. The backward pass says how the output changes " +
		"with each of them, and a step of training moves them a little against the loss: that is all of learning.",
	layer:    Config{Layer: "multi_head", EmbedDim: 768, OutDim: 768, NumHeads: 12},
	Seed:     chapterSeed,
	large:    true,
	NumHeads: 12,
	build: func(w *walk) {
		w.newMultiHead(2) // drawn before the document
		const context, width = 1024, 768
		doc := w.input("doc", w.Params().Draw(layers.Normal(0, 1), context, width))
		mha := w.attention("gpt2", MultiHead(width, width, w.section.NumHeads))
		w.show(doc, "doc", "A document of random numbers.")
		w.shape(doc, "doc.shape", "Its size: tokens, numbers of a token.")
		batch := w.twice(doc)
		w.show(batch, "batch = stack(doc, doc)", "A batch: the document twice.", sequences, nil, nil)
		w.shape(batch, "batch.shape", "Its size.")
		out := mha.forward(batch)
		w.show(w.row(out, 0), "context[0] = mha(batch)[0]",
			"Forward: the context vectors of the first document, by all heads.")
		w.shape(out, "context.shape", "The size of all context vectors.")
		w.count(w.Learnables(), "parameters", "How many numbers the layer learns.")
		w.gradients(out)
	},
}

// gradients shows how ½Σout² changes with each parameter. Its gradient for out is out itself.
func (w *walk) gradients(out *G.Node) {
	if w.Err() != nil {
		return
	}
	learnables := w.Learnables()
	grads, err := G.Backpropagate(G.Nodes{out}, G.Nodes{out}, learnables)
	if w.Of(out, err); w.Err() != nil {
		return
	}
	w.show(grads[0], "W_query.weight.grad = ∂½Σ context² / ∂W_query.weight",
		"Backward: how half the sum of squared outputs changes with the query weights.")
	for i, n := range learnables {
		name := strings.TrimPrefix(n.Name(), "gpt2.")
		w.show(w.length(grads[i]), name+".grad.norm()", "The length of its gradient for "+name+".")
	}
}
