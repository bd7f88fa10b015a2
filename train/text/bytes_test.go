package text_test

import (
	"testing"

	"attention/train/text"

	"github.com/stretchr/testify/require"
)

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
