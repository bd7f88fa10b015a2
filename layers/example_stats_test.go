package layers_test

import (
	"fmt"

	"attention/graph/machine"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Statistics of each head's attention without storing the weights, as means over the queries of a text of 64 tokens:
// the entropy, and the weight of the first token. A model that has not learned anything distributes its attention
// evenly over the tokens so far.
func ExampleAttentionCall_Stats() {
	params := layers.NewParams(tensor.Float32, 123)
	model, err := layers.NewGPT(params.Scope(""), layers.GPTConfig{VocabSize: 65, ContextLength: 64, EmbedDim: 48,
		NumLayers: 2, NumHeads: 3, TieWordEmbeddings: true})
	check(err)
	build := layers.NewBuild(params, layers.Eval)
	build.Observe("transformer.h.*.attn") // before the attentions are built
	ids := build.InputOf(tensor.Int, "ids", 1, 64)
	build.Of(model.Forward(build, ids))
	var nodes G.Nodes
	calls := build.Calls("transformer.h.*.attn")
	for _, call := range calls {
		stats, err := call.Stats()
		check(err)
		nodes = append(nodes, stats.Entropy, stats.First) // (B, H, T)
	}
	check(build.Err())
	text := make([]int, 64)
	for i := range text {
		text[i] = i * i % 65
	}
	check(G.Let(ids, tensor.New(tensor.WithShape(1, 64), tensor.WithBacking(text))))
	m, err := machine.New(nodes...)
	check(err)
	check(m.RunAll())
	mean := func(n *G.Node, head int) (sum float32) {
		for _, x := range n.Value().Data().([]float32)[head*64:][:64] {
			sum += x / 64
		}
		return sum
	}
	for i, call := range calls {
		for head := range 3 {
			fmt.Printf("%s, head %d: entropy %.2f, first token %.2f\n", call.Path, head,
				mean(nodes[2*i], head), mean(nodes[2*i+1], head))
		}
	}
	// Output:
	// transformer.h.0.attn, head 0: entropy 3.21, first token 0.07
	// transformer.h.0.attn, head 1: entropy 3.21, first token 0.07
	// transformer.h.0.attn, head 2: entropy 3.21, first token 0.07
	// transformer.h.1.attn, head 0: entropy 3.21, first token 0.07
	// transformer.h.1.attn, head 1: entropy 3.21, first token 0.07
	// transformer.h.1.attn, head 2: entropy 3.21, first token 0.07
}
