package chapter

import (
	"strings"

	"attention/layers"

	G "gorgonia.org/gorgonia"
)

var gpt2Small = Section{
	Title: "MultiHeadAttention in the size of GPT-2 small",
	Text:  "Multi-head attention in the size of the smallest GPT-2, forward and backward.",
	Why: "This is the same layer in the size of a real model: 768 numbers per token, 12 heads of width 64, 1024 tokens. " +
		"The number of parameters depends neither on the number of tokens nor on the number of heads. The backward pass " +
		"computes how the output changes with each parameter. A training step changes each parameter a little in the " +
		"direction that lowers the loss.",
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
		w.shape(doc, "doc.shape", "Its shape: tokens, numbers per token.")
		batch := w.twice(doc)
		w.show(batch, "batch = stack(doc, doc)", "A batch: the document twice.", sequences, nil, nil)
		w.shape(batch, "batch.shape", "Its shape.")
		out := mha.forward(batch)
		w.show(w.row(out, 0), "context[0] = mha(batch)[0]",
			"Forward: the context vectors of the first document, by all heads.")
		w.shape(out, "context.shape", "The shape of all context vectors.")
		w.count(w.Learnables(), "parameters", "The number of parameters of the layer.")
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
		"Backward: the gradient of half the sum of squared outputs for W_query.")
	for i, n := range learnables {
		name := strings.TrimPrefix(n.Name(), "gpt2.")
		w.show(w.length(grads[i]), name+".grad.norm()", "The length of its gradient for "+name+".")
	}
}
