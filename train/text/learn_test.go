package text

import (
	"encoding/json"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// learned is the part of a tokenizer.json that a test reads.
type learned struct {
	Added []struct {
		ID      int
		Content string
		Special bool
	} `json:"added_tokens"`
	Model struct {
		Vocab  map[string]int
		Merges [][2]string
	}
}

func learn(t *testing.T, text string, n int) (l learned) {
	content, err := LearnBytePairs(text, n)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, &l))
	return l
}

// naiveMerges learns at most n merges by counting all pairs again for each merge. Tokens are written in the letters of
// bytes.
func naiveMerges(t *testing.T, text string, n int) (merges [][2]string) {
	var words [][]string
	ids := map[string]int32{}
	for id, b := range bytesInOrder {
		ids[string(byteLetters[b])] = int32(id)
	}
	for part := range strings.SplitSeq(text, endOfText) {
		for _, piece := range wordsOf(t, gpt2Pattern, part) {
			var word []string
			for _, b := range []byte(piece) {
				word = append(word, string(byteLetters[b]))
			}
			words = append(words, word)
		}
	}
	for len(merges) < n {
		counts, best := map[[2]string]int{}, [2]string{}
		for _, w := range words {
			for i := range len(w) - 1 {
				counts[[2]string(w[i:])]++
			}
		}
		lower := func(p, q [2]string) bool {
			return ids[p[0]] < ids[q[0]] || p[0] == q[0] && ids[p[1]] < ids[q[1]]
		}
		for p, count := range counts {
			if most := counts[best]; count > most || count == most && lower(p, best) {
				best = p
			}
		}
		if counts[best] < 2 {
			return merges
		}
		ids[best[0]+best[1]] = int32(256 + len(merges))
		merges = append(merges, best)
		for i, w := range words {
			var joined []string
			for len(w) > 0 {
				if len(w) > 1 && [2]string(w) == best {
					joined, w = append(joined, w[0]+w[1]), w[2:]
					continue
				}
				joined, w = append(joined, w[0]), w[1:]
			}
			words[i] = joined
		}
	}
	return merges
}

// TestLearnBytePairs: the merges are those found by counting all pairs again for each merge.
func TestLearnBytePairs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(letters string, n int) string {
		var text strings.Builder
		for range n {
			text.WriteRune([]rune(letters)[r.IntN(len([]rune(letters)))])
		}
		return text.String()
	}
	for _, row := range []struct {
		name, text string
		n          int
	}{
		{name: "words", text: strings.Repeat("low lower newest widest, newer lowest\n", 3), n: 18},
		{name: "one letter", text: strings.Repeat("a", 1000) + " aaa aaaaa", n: 8},
		{name: "ties", text: "dc dc ab ab ba ba cd cd", n: 4},
		{name: "few letters", text: random("ab ", 2000), n: 50},
		{name: "no blanks", text: random("abc", 2000), n: 50},
		{name: "more bytes than one", text: random("aéß日𝒳 ", 2000), n: 40},
		{name: "control characters", text: random("\x00\n\r\t \u00ad", 500), n: 20},
		{name: "texts end", text: strings.Repeat("some<|endoftext|>text", 9), n: 6},
	} {
		l := learn(t, row.text, 257+row.n)
		require.Len(t, l.Model.Merges, row.n, row.name)
		require.Equal(t, naiveMerges(t, row.text, row.n), l.Model.Merges, row.name)
		require.Len(t, l.Model.Vocab, 257+row.n, row.name)
		for i, m := range l.Model.Merges {
			require.Equal(t, 256+i, l.Model.Vocab[m[0]+m[1]], row.name)
		}
		require.Equal(t, endOfText, l.Added[0].Content)
		require.True(t, l.Added[0].Special)
		require.Equal(t, 256+row.n, l.Added[0].ID)
		require.Equal(t, 256+row.n, l.Model.Vocab[endOfText], row.name)
	}
}

// TestLearnGPT2Bytes: bytes have the ids of GPT-2's vocabulary.
func TestLearnGPT2Bytes(t *testing.T) {
	l := learn(t, "a", 257)
	for b := range 256 {
		token, err := NewGPT2Tokenizer().Decode([]int{l.Model.Vocab[string(byteLetters[b])]})
		require.NoError(t, err)
		require.Equal(t, string([]byte{byte(b)}), token)
	}
}

// TestLearnSameBytes: equal texts give equal files.
func TestLearnSameBytes(t *testing.T) {
	text := strings.Repeat("the same text gives the same file, again and again; ", 20)
	want, err := LearnBytePairs(text, 280)
	require.NoError(t, err)
	for range 20 {
		got, err := LearnBytePairs(text, 280)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	}
}

// TestReadLearned: the tokenizer of a learned file has its tokens, and texts are the same after encoding and decoding.
func TestReadLearned(t *testing.T) {
	text := strings.Repeat("low lower newest widest, é日𝒳 \r\n", 9)
	content, err := LearnBytePairs(text, 280)
	require.NoError(t, err)
	tokenizer, err := ReadTokenizer(content)
	require.NoError(t, err)
	require.Equal(t, 280, tokenizer.Len())
	var l learned
	require.NoError(t, json.Unmarshal(content, &l))
	for _, m := range l.Model.Merges {
		id, ok := tokenizer.ID(m[0] + m[1])
		require.True(t, ok)
		piece, err := tokenizer.Decode([]int{id})
		require.NoError(t, err)
		if !utf8.ValidString(piece) {
			continue
		}
		ids, err := tokenizer.Encode(piece)
		require.NoError(t, err)
		require.Equal(t, []int{id}, ids, "%q", piece)
	}
	for _, text := range []string{text, "\x00 other text <|endoftext|>", ""} {
		ids, err := tokenizer.Encode(text)
		require.NoError(t, err)
		again, err := tokenizer.Decode(ids)
		require.NoError(t, err)
		require.Equal(t, text, again)
	}
	ids, err := tokenizer.Encode("<|endoftext|>")
	require.NoError(t, err)
	require.Equal(t, []int{279}, ids)
	require.True(t, tokenizer.IsSpecial(279))
}

func TestLearnErrors(t *testing.T) {
	for _, row := range []struct {
		name, text string
		n          int
		want       string
	}{
		{name: "no text", n: 300, want: "text: learn: got an empty text, want at least one character"},
		{name: "few tokens", text: "a", n: 256,
			want: "text: learn: got 256 tokens, want at least 257: all bytes and <|endoftext|>"},
		{name: "no UTF-8", text: "a\xff", n: 257, want: "text: learn: got byte 0xff at offset 1, want UTF-8"},
		{name: "many tokens", text: "low lower lowest", n: 1 << 60, want: "text: learn: got 1152921504606846976 tokens, " +
			"want at most 261: in the rest of the text no pair comes twice"},
	} {
		_, err := LearnBytePairs(row.text, row.n)
		require.EqualError(t, err, row.want, row.name)
	}
}

// TestLearningTakesLittleMemory: one long word needs about 60 bytes of memory for each of its bytes, for symbols and
// pairs, and little garbage.
func TestLearningTakesLittleMemory(t *testing.T) {
	const n = 2 << 20
	word := strings.Repeat("a", n)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := LearnBytePairs(word, leastLearned+3)
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64*n))
}
