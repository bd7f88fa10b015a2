package text_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// naiveNGram counts by scanning the whole text for every number.
func naiveNGram(training, validation []int, vocabulary int, alpha float64) (unigram, bigram float64) {
	size := alpha * float64(vocabulary)
	for i := 1; i < len(validation); i++ {
		before, id := validation[i-1], validation[i]
		single, pair, first := 0, 0, 0
		for j, c := range training {
			if c == id {
				single++
			}
			if j+1 < len(training) && c == before {
				first++
				if training[j+1] == id {
					pair++
				}
			}
		}
		unigram -= math.Log((float64(single) + alpha) / (float64(len(training)) + size))
		bigram -= math.Log((float64(pair) + alpha) / (float64(first) + size))
	}
	n := float64(len(validation) - 1)
	return unigram / n, bigram / n
}

func TestNGramAsCountedNaively(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const vocabulary = 7
	ids := make([]int, 400) // each character is likely to be followed by one other
	for i := 1; i < len(ids); i++ {
		ids[i] = (ids[i-1] + random.IntN(3)) % (vocabulary - 1)
	}
	training := ids[:300]
	validation := append(append([]int{}, ids[300:]...), vocabulary-1, 0, 0) // a character missing in training
	got, err := text.NewNGram(training, validation, vocabulary)
	require.NoError(t, err)

	unigram, bigram := math.Inf(1), math.Inf(1)
	for _, alpha := range []float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3} {
		u, b := naiveNGram(training, validation, vocabulary, alpha)
		unigram, bigram = min(unigram, u), min(bigram, b)
		if alpha == got.UnigramAlpha {
			require.InEpsilon(t, u, got.Unigram, 1e-12) // the order of a sum
		}
		if alpha == got.BigramAlpha {
			require.InEpsilon(t, b, got.Bigram, 1e-12)
		}
	}
	require.InEpsilon(t, unigram, got.Unigram, 1e-12)
	require.InEpsilon(t, bigram, got.Bigram, 1e-12)
	require.Less(t, got.Bigram, got.Unigram)

	// The entropy is the loss of the unsmoothed model on its own text.
	_, own := naiveNGram(training, training, vocabulary, 0)
	require.InEpsilon(t, own, got.BigramEntropy, 1e-12)

	again, err := text.NewNGram(training, validation, vocabulary)
	require.NoError(t, err)
	require.Equal(t, got, again)
}

func TestNGramByHand(t *testing.T) {
	// 1 always follows 0; after 1 come 0 or 1 with probability one half.
	got, err := text.NewNGram([]int{0, 1, 1, 0, 1, 1, 0}, []int{0, 1}, 2)
	require.NoError(t, err)
	require.Equal(t, 0.001, got.BigramAlpha)
	require.InEpsilon(t, -math.Log(2.001/2.002), got.Bigram, 1e-9) // cancellation near ln 1
	require.Equal(t, 0.001, got.UnigramAlpha)
	require.InEpsilon(t, -math.Log(4.001/7.002), got.Unigram, 1e-12)
	require.InEpsilon(t, 4.0/6*math.Ln2, got.BigramEntropy, 1e-12)
}

func TestNGramRefuses(t *testing.T) {
	fine := []int{0, 1, 0}
	for _, c := range []struct {
		training, validation []int
		want                 string
	}{
		{training: []int{0}, validation: fine, want: "text: training split: got 1 ids, want at least 2"},
		{training: fine, want: "text: validation split: got 0 ids, want at least 2"},
		{training: []int{0, 2}, validation: fine, want: "text: training split: got id 2 at position 1, want 0 to 1"},
		{training: fine, validation: []int{-1, 0},
			want: "text: validation split: got id -1 at position 0, want 0 to 1"},
	} {
		_, err := text.NewNGram(c.training, c.validation, 2)
		require.EqualError(t, err, c.want)
	}
}

// Tokens that the vocabulary has but the text does not only reduce the effect of the counts.
func TestNGramRefusesVocabularies(t *testing.T) {
	for _, vocabulary := range []int{-1, 0, math.MaxInt32 + 1, math.MaxInt} {
		_, err := text.NewNGram([]int{0, 0}, []int{0, 0}, vocabulary)
		require.EqualError(t, err, fmt.Sprintf("text: vocabulary: got %d, want 1 to 2147483647", vocabulary))
	}
}
