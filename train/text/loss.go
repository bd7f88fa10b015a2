package text

import (
	"errors"

	"attention/layers"
	"attention/train"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// TokenLoss returns the loss of a language model on batches of windows, as Windows, Epoch
// and Cycle make them: the mean cross entropy, in nats, of the tokens that follow.
// loss maps ids (B, T) and those that follow (B, T) to a scalar, as a model's Loss does; of c
// it takes B and T.
func TokenLoss(loss func(b *layers.Build, ids, targets *G.Node) (*G.Node, error), c WindowConfig) train.Loss {
	return func(b *layers.Build) (*G.Node, error) {
		if loss == nil {
			return nil, errors.New("text: token loss: got nil for the model's loss, want a function")
		}
		ids := b.InputOf(tensor.Int, Inputs, c.Batch, c.Context)
		targets := b.InputOf(tensor.Int, Targets, c.Batch, c.Context)
		if b.Err() != nil {
			return nil, b.Err()
		}
		return loss(b, ids, targets)
	}
}

// PackedInputs declares the inputs of batches whose rows hold several texts, as Packed and GrowingWindows make them:
// all are (B, T). Those of a nil build are nil, which a model's PackedLoss refuses.
func PackedInputs(b *layers.Build, c WindowConfig) (ids, targets *G.Node, p layers.Packing) {
	if b == nil {
		return nil, nil, p
	}
	in := func(name string) *G.Node { return b.InputOf(tensor.Int, name, c.Batch, c.Context) }
	return in(Inputs), in(Targets), layers.Packing{Segments: in(Segments), Positions: in(Positions)}
}

// BuildInputs declares the inputs of the source's batches. Of rows that are not shared there is no packing.
func (p *Packed) BuildInputs(b *layers.Build) (ids, targets *G.Node, of layers.Packing) {
	if !p.config.Alone {
		return PackedInputs(b, WindowConfig{Batch: p.config.Batch, Context: p.config.Context})
	}
	in := func(name string) *G.Node { return b.InputOf(tensor.Int, name, p.config.Batch, p.config.Context) }
	return in(Inputs), in(Targets), of
}
