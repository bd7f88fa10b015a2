package text

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tiktoken-go/tokenizer/codec"
)

// Cut anywhere that wordEnd cuts, a text has the ids that it has in one piece.
func TestGPT2WordEnd(t *testing.T) {
	whole := codec.NewR50kBase()
	pieces := []string{
		" ", " ", "\n", "\t", "\r\n", "\u00a0", "\u0085", "\u3000", "\x1c",
		"'", "'s", "'ll", "don't", "word", "12", "²", "!", "日", "🙂", "\u180e",
	}
	random := rand.New(rand.NewPCG(7, 0))
	cuts := 0
	for range 4000 {
		var text strings.Builder
		for range 1 + random.IntN(40) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		want, _, err := whole.Encode(text.String())
		require.NoError(t, err)
		for rest, got := text.String(), []uint(nil); ; cuts++ {
			n := wordEnd(rest, min(1+random.IntN(5), len(rest)))
			ids, _, err := whole.Encode(rest[:n])
			require.NoError(t, err)
			got, rest = slices.Concat(got, ids), rest[n:]
			if rest == "" {
				require.Equal(t, want, got, "%q", text.String())
				break
			}
		}
	}
	require.Greater(t, cuts, 5000)
}

// A text of many chunks, with characters that need a stand-in on both sides of a cut.
func TestGPT2Chunks(t *testing.T) {
	g := NewGPT2Tokenizer()
	line := "Two roads\x7f diverged\x00 \x7f\x7f in a\x00\x00\x7f wood,\n\n  and I --\x7f"
	of, err := g.Encode(line)
	require.NoError(t, err)
	text := strings.Repeat(line+" ", 5*chunkBytes/len(line))
	ids, err := g.Encode(text)
	require.NoError(t, err)
	require.Equal(t, of, ids[:len(of)])
	back, err := g.Decode(ids)
	require.NoError(t, err)
	require.True(t, text == back)
	require.Equal(t, strings.Count(text, "\x7f"), count(ids, delID))
	require.Equal(t, strings.Count(text, "\x00"), count(ids, standInID))
}

func count(ids []int, wanted int) int {
	n := 0
	for _, id := range ids {
		if id == wanted {
			n++
		}
	}
	return n
}
