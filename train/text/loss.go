package text

import (
	"errors"

	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// TokenLoss returns the loss of a language model on batches of windows from Windows, Epoch and Cycle: the mean cross
// entropy of the next tokens, in nats. loss maps ids (B, T) and the next ids (B, T) to a scalar, as a model's Loss
// does.
func TokenLoss(loss func(b *layers.Build, ids, targets *G.Node) (*G.Node, error)) layers.Formula {
	return func(b *layers.Build, in layers.Inputs) []*G.Node {
		if loss == nil {
			return b.Nodes(nil, errors.New("text: token loss: got nil for the model's loss, want a function"))
		}
		return b.Nodes(loss(b, in[Inputs], in[Targets]))
	}
}

// PackedLoss is TokenLoss for batches of Packed, whose rows hold one or several texts. loss is a model's PackedLoss;
// the nodes of its packing are nil for rows of one text.
func PackedLoss(loss func(b *layers.Build, ids, targets *G.Node, p layers.Packing) (*G.Node, error)) layers.Formula {
	return func(b *layers.Build, in layers.Inputs) []*G.Node {
		return b.Nodes(loss(b, in[Inputs], in[Targets], Packing(in)))
	}
}

// Packing returns the packing of a batch of Packed, whose nodes are nil for rows of one text.
func Packing(in layers.Inputs) layers.Packing {
	return layers.Packing{Segments: in[Segments], Positions: in[Positions]}
}
