package train

import (
	"image/color"
	"testing"

	"attention/cmd/attention/internal/run"
	"attention/layers/chapter"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// Colours that must appear in a picture.
var (
	lossColors = map[string]color.NRGBA{
		"training": {0x1f, 0x77, 0xb4, 0xff}, "validation": {0xe6, 0x55, 0x0d, 0xff}, "text": {0, 0, 0, 0xff},
	}
)

func TestCutSquare(t *testing.T) {
	square := []float64{
		1, 0, 0,
		2, 3, 0,
		4, 5, 6,
	}
	require.Equal(t, []float64{1, 0, 2, 3}, cutSquare(square, 3, 0, 2))
	require.Equal(t, []float64{3, 0, 5, 6}, cutSquare(square, 3, 1, 2))
}

// TestShown: at most 32 characters, with the last query of a whole window.
func TestShown(t *testing.T) {
	for _, c := range []struct {
		layer             string
		context, first, n int
	}{
		{layer: "causal", context: 8, first: 0, n: 8},
		{layer: "causal", context: 40, first: 0, n: 32},
		{layer: "additive", context: 8, first: 0, n: 8},
		{layer: "additive", context: 40, first: 8, n: 32},
	} {
		a := chapter.Config{Layer: c.layer, EmbedDim: 4, OutDim: 4, QueryDim: 4, KeyDim: 4, AttnDim: 4}
		model := run.ModelConfig{Layer: &chapter.LanguageModelConfig{VocabSize: 1, ContextLength: c.context, EmbedDim: 4,
			Attention: a}}
		first, n := shown(model)
		require.Equal(t, []int{c.first, c.n}, []int{first, n}, "%+v", c)
	}
}

// TestLabels: every character has a visible label.
func TestLabels(t *testing.T) {
	r := &training{corpus: new(run.Corpus)}
	var err error
	r.corpus.Tokenizer, err = text.NewVocabulary("aé≤ \n\r\t\u00a0\u200d😀語")
	require.NoError(t, err)
	ids, err := r.corpus.Tokenizer.Encode("aé≤ \n\r\t\u00a0\u200d😀語")
	require.NoError(t, err)
	labels, err := r.labels(ids)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "é", "≤", "·", "¶", "¤", "¤", "¤", "¤", "¤", "¤"}, labels)
}
