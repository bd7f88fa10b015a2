package gradcases

import (
	"attention/graph/gradcases"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// smallEncoder is the config of the encoders of cases.
var smallEncoder = layers.EncoderConfig{VocabSize: 5, ContextLength: 4, TypeVocabSize: 2, NumLayers: 1,
	Block: layers.BlockConfig{
		Attention: layers.AttentionConfig{EmbedDim: 4, NumHeads: 2, QKVBias: true, OutBias: true},
		MLP:       layers.MLPConfig{DimFeedforward: 3, Bias: true}, Norm: layers.NormConfig{Bias: true}}}

// paddedTexts returns the inputs of an encoder, of 2 texts of which one has padding, and others behind them.
func paddedTexts(others ...gradcases.Input) []gradcases.Input {
	return append([]gradcases.Input{gradcases.IDs("ids", []int{4, 0, 1, 1, 2, 3}, 2, 3),
		gradcases.IDs("types", []int{0, 1, 1, 0, 0, 1}, 2, 3), gradcases.IDs("lengths", []int{3, 2}, 2)}, others...)
}

// encoderHeads returns the cases of EncoderClassifier, TokenClassifier and MaskedLM.
func encoderHeads() []Case {
	classes := func(c layers.EncoderClassifierConfig) func(*layers.Encoder) (*layers.EncoderClassifier, error) {
		return func(m *layers.Encoder) (*layers.EncoderClassifier, error) {
			return layers.NewEncoderClassifier(m, c, 1)
		}
	}
	tanh, relu := classes(layers.EncoderClassifierConfig{NumLabels: 3, Dropout: 0.25}),
		classes(layers.EncoderClassifierConfig{NumLabels: 3, Activation: layers.ReLU})
	one := classes(layers.EncoderClassifierConfig{NumLabels: 1})
	tokens := func(m *layers.Encoder) (*layers.TokenClassifier, error) {
		return layers.NewTokenClassifier(m, layers.TokenClassifierConfig{NumLabels: 3, Dropout: 0.25}, 1)
	}
	masked := func(m *layers.Encoder) (*layers.MaskedLM, error) { return layers.NewMaskedLM(m, 1) }
	rows, ids := gradcases.IDs("rows", []int{0, 4, 0}, 3), gradcases.IDs("targets", []int{2, 0, 1}, 3)
	return []Case{
		{Layer: "EncoderClassifier", About: "tanh, padding, types, dropout", Mode: layers.Train, Inputs: paddedTexts(),
			New: behind(tanh, func(h *layers.EncoderClassifier, b *layers.Build, in layers.EncoderInput, _ G.Nodes) (*G.Node,
				error) {
				return h.Forward(b, in)
			})},
		{Layer: "EncoderClassifier", About: "relu, loss", Mode: layers.Train,
			Inputs: paddedTexts(gradcases.IDs("classes", []int{2, 0}, 2)),
			New: behind(relu, func(h *layers.EncoderClassifier, b *layers.Build, in layers.EncoderInput, more G.Nodes) (*G.Node,
				error) {
				return h.Loss(b, in, more[0])
			})},
		{Layer: "EncoderClassifier", About: "one label, loss", Mode: layers.Train,
			Inputs: paddedTexts(gradcases.Fixed("targets", []float64{0.25, 1}, 2, 1)),
			New: behind(one, func(h *layers.EncoderClassifier, b *layers.Build, in layers.EncoderInput, more G.Nodes) (*G.Node,
				error) {
				return h.Loss(b, in, more[0])
			})},
		{Layer: "TokenClassifier", About: "padding, types, dropout", Mode: layers.Train, Inputs: paddedTexts(),
			New: behind(tokens, func(h *layers.TokenClassifier, b *layers.Build, in layers.EncoderInput, _ G.Nodes) (*G.Node,
				error) {
				return h.Forward(b, in)
			})},
		{Layer: "TokenClassifier", About: "loss of some tokens", Mode: layers.Train, Inputs: paddedTexts(rows, ids),
			New: behind(tokens, func(h *layers.TokenClassifier, b *layers.Build, in layers.EncoderInput, more G.Nodes) (*G.Node,
				error) {
				return h.Loss(b, in, more[0], more[1])
			})},
		{Layer: "MaskedLM", About: "padding, types", Mode: layers.Train, Inputs: paddedTexts(),
			New: behind(masked, func(h *layers.MaskedLM, b *layers.Build, in layers.EncoderInput, _ G.Nodes) (*G.Node, error) {
				return h.Forward(b, in)
			})},
		{Layer: "MaskedLM", About: "loss of some tokens", Mode: layers.Train, Inputs: paddedTexts(rows, ids),
			New: behind(masked, func(h *layers.MaskedLM, b *layers.Build, in layers.EncoderInput, more G.Nodes) (*G.Node,
				error) {
				return h.Loss(b, in, more[0], more[1])
			})},
	}
}

// behind returns the New of a head behind an encoder.
func behind[H any](add func(*layers.Encoder) (H, error),
	forward func(h H, b *layers.Build, in layers.EncoderInput, more G.Nodes) (*G.Node, error),
) func(layers.Scope) (Forward, error) {
	return func(s layers.Scope) (Forward, error) {
		m, err := layers.NewEncoder(s, smallEncoder)
		if err != nil {
			return nil, err
		}
		h, err := add(m)
		return func(b *layers.Build, in G.Nodes) (*G.Node, error) {
			return forward(h, b, layers.EncoderInput{IDs: in[0], Types: in[1], Lengths: in[2]}, in[3:])
		}, err
	}
}
