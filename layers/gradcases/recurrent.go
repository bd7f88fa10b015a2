package gradcases

import (
	"attention/graph"
	"attention/graph/gradcases"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// grus returns the cases of GRU, whose result is the output and the last state side by side.
func grus() []Case {
	all := func(c layers.GRUConfig) func(layers.Scope) (Forward, error) {
		return made(layers.NewGRU, c, func(l *layers.GRU, b *layers.Build, in G.Nodes) (*G.Node, error) {
			in = append(in, nil, nil) // without state and lengths
			out, state, err := l.Forward(b, in[0], in[1], in[2])
			if err != nil {
				return nil, err
			}
			flat := func(n *G.Node) *G.Node { return b.Of(G.Reshape(n, []int{n.Shape().TotalSize()})) }
			return graph.Concat(flat(out), flat(state))
		})
	}
	deep := layers.GRUConfig{InputSize: 2, HiddenSize: 3, NumLayers: 2, Bias: true, Bidirectional: true}
	return []Case{
		{Layer: "GRU", About: "(T, E)", New: all(layers.GRUConfig{InputSize: 2, HiddenSize: 3}),
			Inputs: []gradcases.Input{gradcases.Float("x", 5, 2)}},
		{Layer: "GRU", About: "(B, 1, E), with state", New: all(layers.GRUConfig{InputSize: 2, HiddenSize: 3, Bias: true}),
			Inputs: []gradcases.Input{gradcases.Float("x", 3, 1, 2), gradcases.Float("state", 1, 3, 3)}},
		{Layer: "GRU", About: "two layers, both directions, lengths", New: all(deep),
			Inputs: []gradcases.Input{gradcases.Float("x", 2, 5, 2), gradcases.Float("state", 4, 2, 3),
				gradcases.IDs("lengths", []int{3, 5}, 2)}},
	}
}

// rnnSeq2Seqs returns the cases of RNNSeq2Seq, of its loss.
func rnnSeq2Seqs() []Case {
	const name = "RNNSeq2Seq"
	loss := func(attn int) func(layers.Scope) (Forward, error) {
		c := layers.RNNSeq2SeqConfig{SourceVocabSize: 7, TargetVocabSize: 5, EmbedDim: 2, HiddenSize: 3, AttnDim: attn}
		return made(layers.NewRNNSeq2Seq, c, func(m *layers.RNNSeq2Seq, b *layers.Build, in G.Nodes) (*G.Node, error) {
			return m.Loss(b, in[0], in[1], in[2], in[3])
		})
	}
	inputs := []gradcases.Input{
		gradcases.IDs("source", []int{1, 6, 6, 0, 5, 1, 2, 3, 4, 0}, 2, 5),
		gradcases.IDs("target", []int{4, 4, 2, 3, 1, 0}, 2, 3),
		gradcases.IDs("lengths", []int{2, 5}, 2),
		gradcases.IDs("targets", []int{4, 2, graph.IgnoreTarget, 1, 0, 3}, 2, 3),
	}
	return []Case{
		{Layer: name, About: "one state", Mode: layers.Train, Inputs: inputs, New: loss(0)},
		{Layer: name, About: "attention", Mode: layers.Train, Inputs: inputs, New: loss(11)},
	}
}
