package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"attention/train/text"
)

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
