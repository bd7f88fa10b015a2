package text

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// joined is byte-pair encoding by its definition: each join examines all tokens.
func joined(pairs *pairTable, symbols []int32) []int {
	tokens := slices.Clone(symbols)
	for {
		least, at, made := int32(math.MaxInt32), -1, int32(0)
		for i := range len(tokens) - 1 {
			if rank, id := pairs.find(tokens[i], tokens[i+1]); rank != noRank && rank < least {
				least, at, made = rank, i, id
			}
		}
		if at < 0 {
			break
		}
		tokens = slices.Replace(tokens, at, at+2, made)
	}
	ids := make([]int, len(tokens))
	for i, id := range tokens {
		ids[i] = int(id)
	}
	return ids
}

// TestBytePairs: pieces of all lengths have the ids that the definition gives, including pieces of several chunks.
func TestBytePairs(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	for _, row := range []struct {
		name    string
		pairs   *pairTable
		symbols int32
	}{
		{name: "one letter", pairs: randomPairs(random, 1, 8), symbols: 1},
		{name: "two letters", pairs: randomPairs(random, 2, 20), symbols: 2},
		{name: "three letters", pairs: randomPairs(random, 3, 60), symbols: 3},
		{name: "six letters", pairs: randomPairs(random, 6, 200), symbols: 6},
		{name: "long tokens", pairs: cascade(40), symbols: 40},
		{name: "GPT-2", pairs: gpt2().pairs, symbols: 90},
	} {
		j := joiner{pairs: row.pairs}
		for n := 1; n < 700; n += 1 + n/20 {
			symbols := make([]int32, n)
			for i := range symbols {
				symbols[i] = random.Int32N(row.symbols)
			}
			require.Equal(t, joined(row.pairs, symbols), j.append(nil, symbols), "%s: %v", row.name, symbols)
			for i := range symbols {
				symbols[i] = int32(i) % row.symbols
			}
			require.Equal(t, joined(row.pairs, symbols), j.append(nil, symbols), "%s: %v", row.name, symbols)
		}
	}
}

// randomPairs returns pairs of n symbols and of the tokens that they make, in a random order: a token's own pair may
// come before the pairs of its parts.
func randomPairs(random *rand.Rand, n, pairs int) *pairTable {
	table := newPairTable(pairs)
	ranks := random.Perm(pairs)
	for i, rank := range ranks {
		table.set(random.Int32N(int32(n+i)), random.Int32N(int32(n+i)), int32(rank), int32(n+i))
	}
	return table
}

// cascade returns pairs of each symbol and the next one; the last pair has the lowest rank, so the end of a text
// changes all of its encoding.
func cascade(n int32) *pairTable {
	table := newPairTable(int(n))
	for i := range n {
		table.set(i, (i+1)%n, n-i, n+i)
	}
	return table
}

// A long text without blanks is one word, and the time grows linearly with its length.
func TestBytePairsOfALongWord(t *testing.T) {
	g := NewGPT2Tokenizer()
	word := strings.Repeat("abcdefgh", 25_000)
	ids, err := g.Encode(word)
	require.NoError(t, err)
	back, err := g.Decode(ids)
	require.NoError(t, err)
	require.True(t, word == back)
}
