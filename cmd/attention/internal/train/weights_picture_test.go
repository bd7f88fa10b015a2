package train

import (
	"cmp"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/layers/chapter"
	"attention/train"
	"attention/train/loop"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"
)

// Colours that must appear in a picture.
var (
	lossColors = map[string]color.NRGBA{
		"training": {0x1f, 0x77, 0xb4, 0xff}, "validation": {0xe6, 0x55, 0x0d, 0xff}, "text": {0, 0, 0, 0xff},
	}
)

// The picture begins at a token. No query of a causal head has a weight on a later key, not even one of 0.
func TestShownWeights(t *testing.T) {
	square := []float64{
		1, 0, 0,
		2, 3, 0,
		4, 5, 6,
	}
	require.Equal(t, square, shownWeights(square, 3, 0, false))
	require.Equal(t, []float64{3, 0, 5, 6}, shownWeights(square, 3, 1, false))
	for i, w := range shownWeights(square, 3, 0, true) {
		require.Equal(t, i == 1 || i == 2 || i == 5, math.IsNaN(w), i)
	}
}

// TestPromptIsPictured: another prompt gives another picture of the attention weights of the same model.
func TestPromptIsPictured(t *testing.T) {
	files := func(prompt string) (model, picture string) {
		folder, _ := tinyRun(t, "--prompt", prompt)
		for name, to := range map[string]*string{settings.ModelFile: &model, "attention.png": &picture} {
			content, err := os.ReadFile(filepath.Join(folder, name))
			require.NoError(t, err)
			*to = string(content)
		}
		return model, picture
	}
	model, picture := files(tinyText[:4])
	same, other := files(tinyText[10:14])
	require.True(t, model == same)
	require.False(t, picture == other)
}

// The title of a picture names the model, the run and the number of steps.
func TestWeightsTitle(t *testing.T) {
	m := settings.ModelConfig{Layer: &chapter.LanguageModelConfig{Attention: chapter.Config{Layer: "causal"}}}
	require.Equal(t, "causal, layer 0, step 7, run first", weightsTitle(m, 7, "runs/first"))
}

// TestPictured: the picture shows the prompt, or text that begins with a word. It has at most 32 characters, and the
// last query of a whole window.
func TestPictured(t *testing.T) {
	const validation = "hatever the eye sees, and whatever the ear can hear, is kept"
	longest := strings.Repeat("so long a prompt ", 4)
	for _, c := range []struct {
		reason, layer  string
		context        int
		prompt, shown  string
		validationText string
	}{
		{reason: "from a word's start", layer: "causal", context: 8, shown: "the eye "},
		{reason: "cut", layer: "causal", context: 40, shown: "the eye sees, and whatever the e"},
		{reason: "the prompt", layer: "causal", context: 40, prompt: "so it", shown: "so it"},
		{reason: "the prompt, cut to the context", layer: "causal", context: 4, prompt: "so it", shown: "so i"},
		{reason: "the prompt, cut to what is shown", layer: "causal", context: 40, prompt: longest, shown: longest[:32]},
		{reason: "a whole window", layer: "additive", context: 8, shown: "the eye "},
		{reason: "the end of a window", layer: "additive", context: 40, shown: "the eye sees, and whatever the e"},
		{reason: "the end of the prompt", layer: "additive", context: 40, prompt: longest, shown: longest[len(longest)-32:]},
		{reason: "no word", layer: "causal", context: 4, validationText: "aaaaaaaaaaaa", shown: "aaaa"},
		{reason: "a word too near the end", layer: "causal", context: 4, validationText: "aaaaaaa aaa", shown: "aaaa"},
	} {
		given := cmp.Or(c.validationText, validation)
		a := chapter.Config{Layer: c.layer, EmbedDim: 4, OutDim: 4, QueryDim: 4, KeyDim: 4, AttnDim: 4}
		r := &training{corpus: corpusOf(t, validation+longest), model: settings.Model{ModelConfig: settings.ModelConfig{
			Layer: &chapter.LanguageModelConfig{VocabSize: 1, ContextLength: c.context, EmbedDim: 4, Attention: a}}}}
		var err error
		r.corpus.Validation, err = r.corpus.Tokenizer.Encode(given)
		require.NoError(t, err)
		r.config.Sample.Prompt = c.prompt
		r.prompt, err = r.corpus.Tokenizer.Encode(cmp.Or(c.prompt, given))
		require.NoError(t, err)
		window, first, err := r.pictured()
		require.NoError(t, err)
		shown, err := r.corpus.Tokenizer.Decode(window[first:])
		require.NoError(t, err)
		require.Equal(t, c.shown, shown, c.reason)
		require.LessOrEqual(t, len(window), c.context)
		if c.layer == "additive" {
			require.Len(t, window, c.context, c.reason)
		} else if c.prompt == "" { // the sample begins with this prompt, too
			ids, err := r.promptIDs("")
			require.NoError(t, err)
			sampled, err := r.corpus.Tokenizer.Decode(ids)
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(sampled, shown), "%s: %q", c.reason, sampled)
		}
	}
}

// corpusOf returns a corpus with a vocabulary of the characters of a text.
func corpusOf(t *testing.T, characters string) *settings.Corpus {
	v, err := text.NewVocabulary(characters)
	require.NoError(t, err)
	return &settings.Corpus{Corpus: &text.Corpus{Tokenizer: v}}
}

// TestMeanLosses: the groups have equal sizes, except that the last one may be smaller.
func TestMeanLosses(t *testing.T) {
	var steps []train.StepResult
	for n := range 7 {
		steps = append(steps, train.StepResult{Step: n + 1, Loss: float64(10 * n)})
	}
	require.Equal(t, plotter.XYs{{X: 2, Y: 10}, {X: 5, Y: 40}, {X: 7, Y: 60}}, meanLosses(steps, 3))
	require.Len(t, meanLosses(steps, 100), 7)
	require.Empty(t, meanLosses(nil, 100))
}

// TestCurvesNameLastValues: the legend has the last value of each curve, as the table of losses has it.
func TestCurvesNameLastValues(t *testing.T) {
	r := &training{corpus: &settings.Corpus{Corpus: &text.Corpus{NGram: &text.NGram{Unigram: 2.5, Bigram: 2}}},
		Session: &session.Session{Last: &loop.Evaluation{Step: 60, Loss: 1.4}}}
	for n := range 60 {
		r.History.Steps = append(r.History.Steps, train.StepResult{Step: n + 1, Loss: float64(n), TokensPerSecond: 1})
	}
	r.History.Evaluations = []loop.Evaluation{{Step: 30, Loss: 1.9}, {Step: 60, Loss: 1.5}}
	var names []string
	for _, c := range r.curves() {
		names = append(names, c.Name)
	}
	require.Equal(t, []string{"unigram 2.5000", "bigram 2.0000", "", "training 34.5000", "validation 1.5000",
		"whole validation text 1.4000"}, names)
}
