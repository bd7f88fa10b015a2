package text

import (
	"errors"

	"attention/graph"
	"attention/layers"
	"attention/train"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// TokenLoss returns the loss of a language model on batches of windows, as Windows, Epoch
// and Cycle make them: the mean cross entropy, in nats, of the tokens that follow.
// forward maps ids (B, T) to logits (B, T, V), as a model's Forward does; of c it takes
// B and T.
func TokenLoss(forward func(b *layers.Build, ids *G.Node) (*G.Node, error), c WindowConfig) train.Loss {
	return func(b *layers.Build) (*G.Node, error) {
		if forward == nil {
			return nil, errors.New("text: token loss: got nil for the model's forward, want a function")
		}
		ids := b.InputOf(tensor.Int, Inputs, c.Batch, c.Context)
		targets := b.InputOf(tensor.Int, Targets, c.Batch, c.Context)
		if b.Err() != nil {
			return nil, b.Err()
		}
		logits, err := forward(b, ids) // (B, T, V)
		if err != nil {
			return nil, err
		}
		return graph.CrossEntropy(logits, targets, graph.CrossEntropyConfig{})
	}
}
