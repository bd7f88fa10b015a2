package text_test

import (
	"testing"

	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// GPT-2's first merges and its last one, each of which makes the token after those before.
func TestMerges(t *testing.T) {
	g := text.NewGPT2Tokenizer()
	merges := g.Merges()
	require.Len(t, merges, 50000)
	require.Equal(t, [][2]string{{"Ġ", "t"}, {"Ġ", "a"}, {"h", "e"}, {"i", "n"}}, merges[:4])
	for i, pair := range merges {
		require.Equal(t, g.Token(256+i), pair[0]+pair[1])
	}
}
