package encoders

import (
	"context"
	"errors"
	"io"

	"attention/internal/dense"
	"attention/layers"
	"attention/train/pretrained"

	G "gorgonia.org/gorgonia"
)

// Confusion returns how often texts of a class (row) are given each class (column) by an encoder's Classifier. It reads
// the batches of a source with Config.Classes and Once, up to io.EOF.
func Confusion(ctx context.Context, e *pretrained.Encoder, from *Batches) ([][]int, error) {
	if ctx == nil || e == nil || e.Classifier == nil || from == nil || from.config.Classes == nil ||
		from.config.Tagged || !from.config.Once {
		return nil, errors.New("encoders: confusion: got nil, an encoder without classes or other batches, want a context, " +
			"a classifier, and batches of texts with labels that end")
	}
	scores, err := layers.NewFunc(e.Params, func(b *layers.Build, in layers.Inputs) []*G.Node { // (B, C)
		return b.Nodes(e.Classifier.Forward(b, layers.EncoderInput{IDs: in[IDs(0)], Lengths: in[Lengths(0)]}))
	}, layers.FuncConfig{})
	if err != nil {
		return nil, err
	}
	n := len(from.config.Classes)
	counts := make([][]int, n)
	for i := range counts {
		counts[i] = make([]int, n)
	}
	for {
		b, err := from.Next()
		if err == io.EOF {
			return counts, nil
		}
		if err != nil {
			return nil, err
		}
		labels := b.Inputs[Labels].Ints()
		delete(b.Inputs, Labels)
		out, err := scores.Call(ctx, b.Inputs)
		if err != nil {
			return nil, err
		}
		of := dense.Float64s(out[0])
		for i, label := range labels {
			best := 0
			for j, x := range of[i*n : (i+1)*n] {
				if x > of[i*n+best] {
					best = j
				}
			}
			counts[label][best]++
		}
	}
}
