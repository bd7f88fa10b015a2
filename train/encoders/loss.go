package encoders

import (
	"fmt"
	"strconv"

	"attention/graph"
	"attention/layers"
	"attention/train/pretrained"

	G "gorgonia.org/gorgonia"
)

// Names of the inputs of a batch, beside IDs and Lengths.
const (
	Scores  = "scores"  // (B) of pairs of texts; (B, 1) of pairs that are read together
	Types   = "types"   // (B, T) the types of the tokens of pairs that are read together; absent if the model has none
	Labels  = "labels"  // (B) the index of each text's label
	Rows    = "rows"    // (N) the places of masked or tagged tokens, from 0 to B·T−1
	Targets = "targets" // (N) the ids of masked tokens, or the indices of tags; graph.IgnoreTarget where N is padded
)

// IDs returns the name of the input (B, T) of the tokens of text k of each example: 0 is the anchor, 1 the positive and
// 2 the negative.
func IDs(k int) string { return "ids." + strconv.Itoa(k) }

// Lengths returns the name of the input (B) of the number of tokens of text k of each example, without padding.
func Lengths(k int) string { return "lengths." + strconv.Itoa(k) }

// Loss returns the formula of the loss of an encoder for the batches of a Batches: layers.CoSENTLoss for pairs with
// scores, or else layers.MultipleNegativesRankingLoss. With train.StepConfig.MiniBatchSize a step computes the vectors
// in mini-batches. It is the loss of the encoder's Classifier for texts with labels and pairs that are read together, of
// its Tokens for words with tags, and of its MaskedLM for masked tokens.
func Loss(e *pretrained.Encoder) (layers.Formula, error) {
	if e == nil || e.Model == nil {
		return nil, fmt.Errorf("encoders: loss: got nil, want an encoder with its model")
	}
	return func(b *layers.Build, in layers.Inputs) []*G.Node {
		one := layers.EncoderInput{IDs: in[IDs(0)], Lengths: in[Lengths(0)], Types: in[Types]}
		switch {
		case in[Scores] != nil && in[Scores].Dims() == 2 && e.Classifier != nil:
			return b.Nodes(e.Classifier.Loss(b, one, in[Scores]))
		case in[Rows] != nil && e.Tokens != nil:
			return b.Nodes(e.Tokens.Loss(b, one, in[Rows], in[Targets]))
		case in[Labels] != nil && e.Classifier != nil:
			return b.Nodes(e.Classifier.Loss(b, one, in[Labels]))
		case in[Rows] != nil && e.MaskedLM != nil:
			return b.Nodes(e.MaskedLM.Loss(b, one, in[Rows], in[Targets]))
		}
		var x []*G.Node // (B, E) each
		for k := 0; in[IDs(k)] != nil; k++ {
			x = append(x, b.Cached(e.Model.Embedding(b, layers.EncoderInput{IDs: in[IDs(k)], Lengths: in[Lengths(k)]},
				e.Sentence.Pooling, false)))
		}
		switch {
		case len(x) < 2:
			return b.Nodes(nil, fmt.Errorf("encoders: loss: got %d texts of an example and no head for them, want two texts or "+
				"a head", len(x)))
		case in[Scores] != nil:
			return b.Nodes(layers.CoSENTLoss{}.Forward(b, x[0], x[1], in[Scores]))
		}
		candidates := x[1] // (B, E), or (2·B, E) with negatives
		if len(x) > 2 {
			columns := b.Of(graph.Concat(b.Of(graph.Transpose(x[1])), b.Of(graph.Transpose(x[2]))))
			candidates = b.Of(graph.Transpose(columns))
		}
		return b.Nodes(layers.MultipleNegativesRankingLoss{}.Forward(b, x[0], candidates, nil))
	}, nil
}
