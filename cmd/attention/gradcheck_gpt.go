package main

import (
	"attention/graph"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// transformerOps are what transformers need besides attention, norms and products.
func transformerOps() []gradcheckCase {
	positions := func(about string, start, T int) gradcheckCase {
		return opCase("PositionRows", about, func(g *checkedGraph) (*G.Node, error) {
			return graph.PositionRows(g.input("weight", 7, 5), g.start(start), T)
		})
	}
	return []gradcheckCase{
		positions("from 0", 0, 3),
		positions("in the middle", 2, 3),
		positions("to the end", 4, 3),
		positions("all", 0, 7),
		oneInput("ReLU", "(2, 3, 5)", graph.ReLU, 2, 3, 5),
		oneInput("LastRow", "(B, T, E)", graph.LastRow, 2, 3, 5),
		oneInput("LastRow", "(T, E)", graph.LastRow, 3, 5),
		oneInput("LastRow", "T=1", graph.LastRow, 2, 1, 5),
		opCase("LastRow", "of a sequence that is used whole, too", func(g *checkedGraph) (*G.Node, error) {
			x := g.input("x", 2, 3, 5)
			row, err := graph.LastRow(x)
			if err != nil {
				return nil, err
			}
			y, err := graph.Tanh(x)
			if err != nil {
				return nil, err
			}
			y, err = graph.LastRow(y)
			if err != nil {
				return nil, err
			}
			return graph.Mul(row, y)
		}),
	}
}

// start is the number of tokens before a chunk.
func (g *checkedGraph) start(n int) *G.Node {
	return G.NewScalar(g.graph, tensor.Int, G.WithName("start"), G.WithValue(G.NewI(n)))
}

// transformerLayers are what models are made of, and the models.
func transformerLayers() []gradcheckCase {
	cases := append(normLayers(), mlpLayers()...)
	cases = append(cases, blockLayers()...)
	cases = append(cases, decoderBlockLayers()...)
	cases = append(cases, gptModels()...)
	return append(cases, seq2seqModels()...)
}

func normLayers() []gradcheckCase {
	return []gradcheckCase{
		sequenceCase("Norm", "layer", layers.NewNorm, layers.NormConfig{Width: 5}, layers.Eval, 2, 3, 5),
		sequenceCase("Norm", "layer, bias", layers.NewNorm, layers.NormConfig{Width: 5, Bias: true}, layers.Eval, 3, 5),
		sequenceCase("Norm", "rms", layers.NewNorm, layers.NormConfig{Width: 5, Kind: layers.NormRMS}, layers.Eval, 2, 3, 5),
	}
}

func mlpLayers() []gradcheckCase {
	var cases []gradcheckCase
	for i, a := range layers.Activations() {
		c := layers.MLPConfig{Width: 5, Hidden: 7, Activation: a, Bias: i%2 == 0, Layout: layers.Layouts()[i%len(layers.Layouts())]}
		cases = append(cases, sequenceCase("MLP", string(a)+", "+string(c.Layout), layers.NewMLP, c, layers.Eval, 2, 3, 5))
	}
	dropout := layers.MLPConfig{Width: 3, Bias: true, Dropout: 0.25, HiddenDropout: 0.5}
	return append(cases, sequenceCase("MLP", "dropout", layers.NewMLP, dropout, layers.Train, 2, 5, 3))
}

func blockLayers() []gradcheckCase {
	of := func(about string, change func(c *layers.BlockConfig)) gradcheckCase {
		c := layers.BlockConfig{
			Attention: layers.AttentionConfig{Width: 6, NumHeads: 3, QKVBias: true, OutBias: true, Layout: layers.GPT2, Mask: graph.Causal{}},
			MLP:       layers.MLPConfig{Hidden: 5, Bias: true},
			Norm:      layers.NormConfig{Bias: true},
		}
		change(&c)
		return layerCase("Block", about, layers.NewBlock, c, layers.Train, func(l *layers.Block, b *layers.Build, g *checkedGraph) (*G.Node, error) {
			return l.Forward(b, layers.AttentionInput{Query: g.input("x", 2, 3, 6)})
		})
	}
	return []gradcheckCase{
		of("pre-norm", func(*layers.BlockConfig) {}),
		of("post-norm", func(c *layers.BlockConfig) { c.PostNorm, c.Attention.Layout = true, layers.Torch }),
		of("dropout", func(c *layers.BlockConfig) { c.Attention.OutDropout, c.MLP.Dropout = 0.25, 0.5 }),
		of("llama", func(c *layers.BlockConfig) {
			c.Attention = layers.AttentionConfig{Width: 6, NumHeads: 6, NumKVHeads: 2, HeadDim: 2, Layout: layers.Llama,
				RoPE: &graph.RoPEConfig{}, Mask: graph.Causal{}}
			c.MLP, c.Norm = layers.MLPConfig{Hidden: 5, Activation: layers.SwiGLU}, layers.NormConfig{Kind: layers.NormRMS}
		}),
	}
}

func decoderBlockLayers() []gradcheckCase {
	var cases []gradcheckCase
	for _, layout := range []layers.Layout{layers.Book, layers.Torch} {
		c := layers.DecoderBlockConfig{Block: layers.BlockConfig{
			Attention: layers.AttentionConfig{Width: 6, NumHeads: 2, Layout: layout, Mask: graph.Causal{}},
			MLP:       layers.MLPConfig{Hidden: 5},
			PostNorm:  layout == layers.Torch,
		}}
		cases = append(cases, layerCase("DecoderBlock", string(layout), layers.NewDecoderBlock, c, layers.Eval,
			func(l *layers.DecoderBlock, b *layers.Build, g *checkedGraph) (*G.Node, error) {
				return l.Forward(b, layers.DecoderInput{X: g.input("x", 2, 3, 6), Memory: g.input("memory", 2, 5, 6)})
			}))
	}
	return cases
}

func gptModels() []gradcheckCase {
	of := func(about string, change func(c *layers.GPTConfig), forward func(m *layers.GPT, b *layers.Build, g *checkedGraph) (*G.Node, error)) gradcheckCase {
		c := layers.GPTConfig{Vocab: 7, Context: 5, Width: 6, Layers: 2, NumHeads: 2, Hidden: 3}
		change(&c)
		return layerCase("GPT", about, layers.NewGPT, c, layers.Train, forward)
	}
	logits := func(m *layers.GPT, b *layers.Build, g *checkedGraph) (*G.Node, error) {
		return m.Forward(b, g.ids("ids", []int{2, 0, 6, 2}, 4))
	}
	loss := func(m *layers.GPT, b *layers.Build, g *checkedGraph) (*G.Node, error) {
		return m.Loss(b, g.ids("ids", []int{1, 6, 6, 0, 5, 1}, 2, 3), g.ids("targets", []int{6, 6, graph.IgnoreTarget, 5, 1, 0}, 2, 3))
	}
	return []gradcheckCase{
		of("(T), logits", func(*layers.GPTConfig) {}, logits),
		of("(B, T), loss", func(*layers.GPTConfig) {}, loss),
		of("untied, no bias, grouped heads", func(c *layers.GPTConfig) { c.Untied, c.NoBias, c.NumKVHeads = true, true, 1 }, loss),
		of("gelu, dropout", func(c *layers.GPTConfig) {
			c.Activation, c.EmbeddingDropout, c.AttentionDropout, c.ResidualDropout = "gelu", 0.25, 0.5, 0.25
		}, loss),
	}
}

func seq2seqModels() []gradcheckCase {
	of := func(about string, change func(c *layers.Seq2SeqConfig)) gradcheckCase {
		c := layers.Seq2SeqConfig{SourceVocab: 7, TargetVocab: 7, Context: 5, Width: 6, EncoderLayers: 1, DecoderLayers: 1, NumHeads: 2, Hidden: 3}
		change(&c)
		return layerCase("Seq2Seq", about, layers.NewSeq2Seq, c, layers.Train, func(m *layers.Seq2Seq, b *layers.Build, g *checkedGraph) (*G.Node, error) {
			return m.Loss(b, g.ids("source", []int{1, 6, 6, 0, 5, 1, 2, 3, 4, 0}, 2, 5), g.ids("target", []int{6, 6, 2, 5, 1, 0}, 2, 3),
				g.ids("lengths", []int{2, 5}, 2), g.ids("targets", []int{6, 2, graph.IgnoreTarget, 1, 0, 3}, 2, 3))
		})
	}
	return []gradcheckCase{
		of("learned positions", func(*layers.Seq2SeqConfig) {}),
		of("sinusoidal, shared, tied, post-norm", func(c *layers.Seq2SeqConfig) {
			c.Sinusoidal, c.Shared, c.Tied, c.PostNorm = true, true, true, true
		}),
		of("dropout", func(c *layers.Seq2SeqConfig) { c.Dropout = 0.25 }),
	}
}
