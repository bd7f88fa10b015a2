package text_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"attention/layers"
	"attention/train/text"
)

func TestTokenLossRefuses(t *testing.T) {
	broken := errors.New("no loss")
	b := layers.NewBuild(layers.NewParams(tensor.Float32, 1), layers.Train)
	text.TokenLoss(func(*layers.Build, *G.Node, *G.Node) (*G.Node, error) { return nil, broken })(b, nil)
	require.ErrorIs(t, b.Err(), broken)
	b = layers.NewBuild(layers.NewParams(tensor.Float32, 1), layers.Train)
	text.TokenLoss(nil)(b, nil)
	require.EqualError(t, b.Err(), "text: token loss: got nil for the model's loss, want a function")
}
