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
	shape := text.WindowConfig{Batch: 2, Context: 3}
	broken := errors.New("no loss")
	loss := func(_ *layers.Build, _, _ *G.Node) (*G.Node, error) { return nil, broken }
	b := layers.NewBuild(layers.NewParams(tensor.Float32, 1), layers.Train)
	_, err := text.TokenLoss(loss, shape)(b)
	require.ErrorIs(t, err, broken)
	require.Equal(t, tensor.Shape{2, 3}, b.Inputs()[text.Targets].Shape())

	_, err = text.TokenLoss(loss, shape)(b) // a second time in one graph
	require.ErrorContains(t, err, `input "inputs": the name is taken`)
}
