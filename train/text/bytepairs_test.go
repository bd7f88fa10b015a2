package text

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// joined is byte-pair encoding as it is defined: each join looks at all pieces.
func joined(b bytePairs, word string) (ids []int) {
	if id, ok := b.ids[word]; ok {
		return []int{int(id)}
	}
	pieces := strings.Split(word, "")
	for {
		least, at := noToken, -1
		for i := range len(pieces) - 1 {
			if id, ok := b.ids[pieces[i]+pieces[i+1]]; ok && id < least {
				least, at = id, i
			}
		}
		if at < 0 {
			break
		}
		pieces = slices.Replace(pieces, at, at+2, pieces[at]+pieces[at+1])
	}
	for _, piece := range pieces {
		ids = append(ids, int(b.ids[piece]))
	}
	return ids
}

// TestBytePairs: words of all lengths have the ids that the definition gives them.
func TestBytePairs(t *testing.T) {
	small := bytePairs{map[string]int32{}}
	for id, token := range []string{"a", "b", "c", "aa", "ab", "bc", "aab", "abab", "bb", "aaaa", "cab"} {
		small.ids[token] = int32(id)
	}
	random := rand.New(rand.NewPCG(3, 1))
	for _, row := range []struct {
		name    string
		pairs   bytePairs
		letters string
	}{{name: "small", pairs: small, letters: "abc"}, {name: "GPT-2", pairs: gpt2().pairs, letters: "etaoinshrdlu-="}} {
		j := joiner{bytePairs: row.pairs}
		for n := 1; n < 300; n++ {
			var word strings.Builder
			for range n {
				word.WriteByte(row.letters[random.IntN(len(row.letters))])
			}
			require.Equal(t, joined(row.pairs, word.String()), j.append(nil, word.String()), "%s: %q", row.name, word.String())
		}
	}
}

// A long text without blanks is one word, and takes no longer than its length asks for.
func TestBytePairsOfALongWord(t *testing.T) {
	g := NewGPT2Tokenizer()
	word := strings.Repeat("abcdefgh", 25_000)
	ids, err := g.Encode(word)
	require.NoError(t, err)
	back, err := g.Decode(ids)
	require.NoError(t, err)
	require.True(t, word == back)
}
