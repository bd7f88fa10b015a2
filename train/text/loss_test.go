package text_test

import (
	"errors"
	"testing"

	"attention/layers"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
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

func TestByteTokenizer(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	var b text.ByteTokenizer
	ids, err := b.Encode(string(every))
	require.NoError(t, err)
	for i, id := range ids {
		require.Equal(t, i, id)
	}
	back, err := b.Decode(ids)
	require.NoError(t, err)
	require.Equal(t, string(every), back)

	ids, err = b.Encode("é")
	require.NoError(t, err)
	require.Equal(t, []int{0xc3, 0xa9}, ids)
	_, err = b.Decode([]int{0, 256})
	require.EqualError(t, err, "text: ids: got 256 at position 1, want 0 to 255")
	_, err = b.Decode([]int{-1})
	require.EqualError(t, err, "text: ids: got -1 at position 0, want 0 to 255")
}

func FuzzByteTokenizer(f *testing.F) {
	for _, s := range texts() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		requireRoundTrip(t, text.ByteTokenizer{}, s)
	})
}

func TestSplit(t *testing.T) {
	ids := make([]int, 0, 101)
	for i := range cap(ids) {
		ids = append(ids, i)
	}
	training, validation, err := text.Split(ids, 10)
	require.NoError(t, err)
	require.Equal(t, ids[:90], training)
	require.Equal(t, ids[90:], validation)
	require.Equal(t, 90, cap(training), "appending to the training split must not write into the other")

	_, _, err = text.Split(ids[:100], 10)
	require.EqualError(t, err, "text: got 100 tokens, 90 to train on and 10 to validate on, "+
		"want both to be more than the context of 10: at least 101 tokens")
	_, _, err = text.Split(nil, 1)
	require.EqualError(t, err, "text: got 0 tokens, 0 to train on and 0 to validate on, "+
		"want both to be more than the context of 1: at least 11 tokens")
	_, _, err = text.Split(ids, 0)
	require.EqualError(t, err, "text: context: got 0, want a number >= 1")

	// The documented least length is the smallest that works, and 9/10 is rounded down.
	for context := 1; context < 40; context++ {
		_, _, err = text.Split(make([]int, 10*context), context)
		require.Error(t, err)
		training, _, err := text.Split(make([]int, 10*context+1), context)
		require.NoError(t, err)
		require.Len(t, training, (10*context+1)*9/10)
	}
}
