package chapter

import (
	"strings"

	"attention/layers"
	"attention/layers/chapter"

	G "gorgonia.org/gorgonia"
)

// gpt2Small runs multi-head attention in the size of the smallest GPT-2, forward and backward.
func (p *page) gpt2Small() error {
	if _, err := p.newMultiHead(); err != nil { // drawn before the document
		return err
	}
	const context, width, heads = 1024, 768, 12
	doc := p.input("doc", p.params.Draw(layers.Normal(0, 1), context, width))
	l, err := layers.NewAttention(p.params.Scope("gpt2"), chapter.MultiHead(width, width, heads))
	if err != nil {
		return err
	}
	p.tensor(doc, "A document of random numbers.",
		"002/45 doc")
	p.size(doc, "Its size: tokens, numbers of a token.",
		"002/45 doc.shape")
	batch := p.twice(doc)
	p.tensor(batch, "A batch: the document twice.",
		"002/46 gpt_batch")
	p.size(batch, "Its size.",
		"002/46 gpt_batch.shape")
	out := p.Of(l.Forward(p.build, batch))
	p.tensor(p.row(out, 0), "Forward: the context vectors of the first document, by twelve heads.",
		"002/47 context_vecs[0]")
	p.size(out, "The size of all context vectors.",
		"002/47 context_vecs.shape")
	p.count(p.build.Learnables(), "How many numbers the layer learns.",
		"walk/parameters")
	p.gradients(out)
	return nil
}

// gradients shows how ½Σout² changes with each parameter. Its gradient for out is out itself.
func (p *page) gradients(out *G.Node) {
	if p.Err() != nil {
		return
	}
	learnables := p.build.Learnables()
	grads, err := G.Backpropagate(G.Nodes{out}, G.Nodes{out}, learnables)
	if p.Of(out, err); p.Err() != nil {
		return
	}
	p.tensor(grads[0], "Backward: how half the sum of squared outputs changes with the query weights.",
		"walk/W_query.weight.grad")
	for i, n := range learnables {
		name := strings.TrimPrefix(n.Name(), "gpt2.")
		p.tensor(p.length(grads[i]), "The length of its gradient for "+name+".",
			"walk/length of "+name+".grad")
	}
}
