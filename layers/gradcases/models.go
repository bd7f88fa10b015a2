package gradcases

import (
	"fmt"

	"attention/graph"
	"attention/graph/gradcases"
	"attention/graph/mask"
	"attention/layers"
	"attention/layers/chapter"

	G "gorgonia.org/gorgonia"
)

// tokens returns the inputs of a model's loss, of 2 sequences of 3 tokens.
func tokens(targets ...int) []gradcases.Input {
	return []gradcases.Input{gradcases.IDs("ids", []int{1, 6, 6, 0, 5, 1}, 2, 3), gradcases.IDs("targets", targets, 2, 3)}
}

// ofLoss returns the New of the loss of a language model.
func ofLoss[C any, L interface {
	Loss(b *layers.Build, ids, targets *G.Node) (*G.Node, error)
}](create func(layers.Scope, C) (L, error), c C) func(layers.Scope) (Forward, error) {
	return made(create, c, func(m L, b *layers.Build, in G.Nodes) (*G.Node, error) { return m.Loss(b, in[0], in[1]) })
}

// sequence returns the input of a model's logits, of one sequence.
func sequence() []gradcases.Input {
	return []gradcases.Input{gradcases.IDs("ids", []int{2, 0, 6, 2}, 4)}
}

// languageModels returns cases of the model over every variant of attention, of its
// logits and of its loss.
func languageModels() []Case {
	var cases []Case
	for _, name := range chapter.Names() {
		c := chapter.LanguageModelConfig{VocabSize: 7, ContextLength: 5, EmbedDim: 3,
			Attention: chapter.Config{Layer: name, EmbedDim: 3, OutDim: 4, ContextLength: 5, NumHeads: 2,
				QueryDim: 3, KeyDim: 3, AttnDim: 5, QKVBias: true, Dropout: 0.25}}
		cases = append(cases,
			Case{Layer: "LanguageModel", About: name + ", (T), logits, with statistics", Mode: layers.Train, Observed: true,
				New: ofX(chapter.NewLanguageModel, c), Inputs: sequence()},
			Case{Layer: "LanguageModel", About: name + ", (B, T), loss", Mode: layers.Train,
				New: ofLoss(chapter.NewLanguageModel, c), Inputs: tokens(6, 6, 2, 5, 1, 0)})
	}
	return cases
}

func gpts() []Case {
	const name = "Decoder"
	plain := layers.GPTConfig{VocabSize: 7, ContextLength: 5, EmbedDim: 6, NumLayers: 2, NumHeads: 2, DimFeedforward: 3,
		Activation: "gelu_new", TieWordEmbeddings: true, Bias: true}
	grouped, dropout := plain, plain
	grouped.TieWordEmbeddings, grouped.Bias, grouped.NumKVHeads = false, false, 1
	dropout.Activation = "gelu"
	dropout.EmbeddingDropout, dropout.AttentionDropout, dropout.ResidualDropout = 0.25, 0.5, 0.25
	loss := func(c layers.GPTConfig) func(layers.Scope) (Forward, error) { return ofLoss(layers.NewGPT, c) }
	inputs := tokens(6, 6, graph.IgnoreTarget, 5, 1, 0)
	return []Case{
		{Layer: name, About: "GPT, (T), logits", Mode: layers.Train, Inputs: sequence(), New: ofX(layers.NewGPT, plain)},
		{Layer: name, About: "GPT, (B, T), loss", Mode: layers.Train, Inputs: inputs, New: loss(plain)},
		{Layer: name, About: "GPT, untied, no bias, grouped heads", Mode: layers.Train, Inputs: inputs, New: loss(grouped)},
		{Layer: name, About: "GPT, gelu, dropout", Mode: layers.Train, Inputs: inputs, New: loss(dropout)},
	}
}

// decoders returns cases of the placements of norms, and of each scale.
func decoders() []Case {
	block := layers.BlockConfig{
		Attention: layers.AttentionConfig{EmbedDim: 6, NumHeads: 2, NumKVHeads: 1, HeadDim: 2, RoPE: &graph.RoPEConfig{}},
		MLP:       layers.MLPConfig{DimFeedforward: 3, Activation: layers.SwiGLU},
		Norm:      layers.NormConfig{Kind: layers.RMSNorm},
	}
	window := block
	window.Attention.Mask = mask.SlidingWindow{Left: 1}
	plain := layers.DecoderConfig{VocabSize: 7, ContextLength: 5, NumLayers: 1, Blocks: []layers.BlockConfig{block}}
	of := func(about string, change func(c *layers.DecoderConfig, b *layers.BlockConfig)) Case {
		c, b := plain, block
		change(&c, &b)
		c.Blocks = []layers.BlockConfig{b, window}
		return Case{Layer: "Decoder", About: about, Mode: layers.Train, Inputs: tokens(6, 6, graph.IgnoreTarget, 5, 1, 0),
			New: ofLoss(layers.NewDecoder, c)}
	}
	return []Case{
		of("norms of outputs, scaled", func(c *layers.DecoderConfig, b *layers.BlockConfig) {
			b.NormPlacement, b.ResidualScale = layers.OutputNorm, 0.5
			c.EmbeddingScale, c.LogitScale, c.TieWordEmbeddings = 3, 2, true
		}),
		of("sandwich, capped logits", func(c *layers.DecoderConfig, b *layers.BlockConfig) {
			b.NormPlacement, c.LogitSoftcap, c.LogitScale, c.LearnedPositions = layers.SandwichNorm, 0.5, 9, true
		}),
		of("parallel", func(_ *layers.DecoderConfig, b *layers.BlockConfig) { b.Parallel = true }),
		of("pattern", func(c *layers.DecoderConfig, _ *layers.BlockConfig) { c.NumLayers, c.Pattern = 3, []int{1, 0} }),
	}
}

func seq2seqs() []Case {
	learned := layers.Seq2SeqConfig{SourceVocabSize: 7, TargetVocabSize: 7, ContextLength: 5, EmbedDim: 6,
		NumEncoderLayers: 1, NumDecoderLayers: 1, NumHeads: 2, DimFeedforward: 3}
	sinusoidal, dropout := learned, learned
	sinusoidal.Sinusoidal, sinusoidal.PostNorm = true, true
	sinusoidal.ShareEmbeddings, sinusoidal.TieWordEmbeddings = true, true
	dropout.Dropout = 0.25
	loss := func(c layers.Seq2SeqConfig) func(layers.Scope) (Forward, error) {
		return made(layers.NewSeq2Seq, c, func(m *layers.Seq2Seq, b *layers.Build, in G.Nodes) (*G.Node, error) {
			return m.Loss(b, in[0], in[1], in[2], in[3])
		})
	}
	inputs := []gradcases.Input{
		gradcases.IDs("source", []int{1, 6, 6, 0, 5, 1, 2, 3, 4, 0}, 2, 5),
		gradcases.IDs("target", []int{6, 6, 2, 5, 1, 0}, 2, 3),
		gradcases.IDs("lengths", []int{2, 5}, 2),
		gradcases.IDs("targets", []int{6, 2, graph.IgnoreTarget, 1, 0, 3}, 2, 3),
	}
	return []Case{
		{Layer: "Seq2Seq", About: "learned positions", Mode: layers.Train, Inputs: inputs, New: loss(learned)},
		{Layer: "Seq2Seq", About: "sinusoidal, shared, tied, post-norm", Mode: layers.Train, Inputs: inputs,
			New: loss(sinusoidal)},
		{Layer: "Seq2Seq", About: "dropout", Mode: layers.Train, Inputs: inputs, New: loss(dropout)},
	}
}

// vits returns the cases of ViT, of its logits and its loss.
func vits() []Case {
	const name = "ViT"
	c := layers.ViTConfig{Height: 4, Width: 6, Channels: 3, PatchSize: 2, EmbedDim: 4, NumLayers: 1, NumHeads: 2,
		DimFeedforward: 3, NumClasses: 5}
	dropout := c
	dropout.Dropout = 0.25
	forward := func(c layers.ViTConfig, seen mask.Mask) func(layers.Scope) (Forward, error) {
		return made(layers.NewViT, c, func(m *layers.ViT, b *layers.Build, in G.Nodes) (*G.Node, error) {
			if len(in) > 1 {
				return m.Loss(b, in[0], in[1], seen)
			}
			return m.Forward(b, in[0], seen)
		})
	}
	classes := []int{4, graph.IgnoreTarget, 0, 1, 2, 2, 3, 0, graph.IgnoreTarget, 1, 4, 4}
	loss := []gradcases.Input{gradcases.Float("picture", 2, 4, 6, 3), gradcases.IDs("classes", classes, 2, 6)}
	return []Case{
		{Layer: name, About: "(Height, Width, Channels), logits", Mode: layers.Train, New: forward(c, nil),
			Inputs: []gradcases.Input{gradcases.Float("picture", 4, 6, 3)}},
		{Layer: name, About: "(B, …), loss, dropout", Mode: layers.Train, New: forward(dropout, nil), Inputs: loss},
		{Layer: name, About: "each patch sees itself alone", Mode: layers.Train, New: forward(c, mask.SlidingWindow{}),
			Inputs: loss},
	}
}

// encoders returns the cases of Encoder, by each kind of pooling.
func encoders() []Case {
	const name = "Encoder"
	c := smallEncoder
	dropout := c
	dropout.EmbeddingDropout, dropout.Block.MLP.Dropout = 0.25, 0.25
	padded := paddedTexts()
	forward := func(c layers.EncoderConfig, p layers.Pooling) func(layers.Scope) (Forward, error) {
		return made(layers.NewEncoder, c, func(m *layers.Encoder, b *layers.Build, in G.Nodes) (*G.Node, error) {
			read := layers.EncoderInput{IDs: in[0]}
			if len(in) > 1 {
				read.Types, read.Lengths = in[1], in[2]
			}
			if p == "" {
				return m.Forward(b, read)
			}
			return m.Embedding(b, read, p, true)
		})
	}
	return []Case{
		{Layer: name, About: "vectors of tokens, dropout", Mode: layers.Train, New: forward(dropout, ""),
			Inputs: padded[:1]},
		{Layer: name, About: "mean, padding, types", Mode: layers.Train, New: forward(c, layers.MeanPooling), Inputs: padded},
		{Layer: name, About: "first token, padding, types", Mode: layers.Train, New: forward(c, layers.FirstPooling),
			Inputs: padded},
		{Layer: name, About: "maximum, padding, types", Mode: layers.Train, New: forward(c, layers.MaxPooling),
			Inputs: padded},
	}
}

// similarities returns the cases of the losses of texts' vectors.
func similarities() []Case {
	loss := func(forward Forward) func(layers.Scope) (Forward, error) {
		return func(layers.Scope) (Forward, error) { return forward, nil }
	}
	rows := func(shapes ...int) (in []gradcases.Input) {
		for i, n := range shapes {
			in = append(in, gradcases.Float(fmt.Sprint("x", i), n, 3))
		}
		return in
	}
	of := func(about, layer string, in []gradcases.Input, forward Forward) Case {
		return Case{Layer: layer, About: about, Mode: layers.Train, Inputs: in, New: loss(forward)}
	}
	ranking := func(b *layers.Build, in G.Nodes) (*G.Node, error) {
		var equal mask.Mask
		if len(in) > 2 {
			equal = mask.Segments{Query: in[2], Key: in[3]}
		}
		return layers.MultipleNegativesRankingLoss{Scale: 2}.Forward(b, in[0], in[1], equal)
	}
	cosent := func(b *layers.Build, in G.Nodes) (*G.Node, error) {
		return layers.CoSENTLoss{Scale: 2}.Forward(b, in[0], in[1], in[2])
	}
	triplet := func(m layers.TripletDistanceMetric) Forward {
		return func(b *layers.Build, in G.Nodes) (*G.Node, error) {
			return layers.TripletLoss{DistanceMetric: m}.Forward(b, in[0], in[1], in[2])
		}
	}
	const rank, cos, near = "MultipleNegativesRankingLoss", "CoSENTLoss", "TripletLoss"
	return []Case{
		of("hard negatives", rank, rows(2, 5), ranking),
		of("equal texts", rank, append(rows(2, 5), gradcases.IDs("positives", []int{1, 2}, 2),
			gradcases.IDs("ids", []int{1, 2, 2, 3, 1}, 5)), ranking),
		of("ties", cos, append(rows(5, 5), gradcases.Fixed("scores", []float64{1, 0.5, 1, 0, 0.5}, 5)), cosent),
		of("euclidean", near, rows(2, 2, 2), triplet(layers.Euclidean)),
		of("cosine", near, rows(2, 2, 2), triplet(layers.Cosine)),
		of("manhattan", near, rows(2, 2, 2), triplet(layers.Manhattan)),
	}
}
