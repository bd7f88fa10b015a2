package train

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/internal/safetensors"
	"attention/layers"
	"attention/train"

	"github.com/stretchr/testify/require"
)

// TestTrainIsRepeatable: the same flags give the same model, pictures and sample,
// also with dropout, and another seed gives others.
func TestTrainIsRepeatable(t *testing.T) {
	flags := []string{"--layer", "causal", "--dropout", "0.3"}
	outcome := func(more ...string) map[string]string {
		folder, printed := tinyRun(t, append(flags, more...)...)
		files := map[string]string{"sample": sampled(t, printed)}
		for _, name := range []string{"model.safetensors", "attention.png", "loss.png"} {
			content, err := os.ReadFile(filepath.Join(folder, name))
			require.NoError(t, err)
			files[name] = string(content)
		}
		return files
	}
	first := outcome()
	require.Equal(t, first, outcome())
	for _, other := range [][]string{{"--seed", "2"}, {"--dropout", "0"}} {
		for name, content := range outcome(other...) {
			require.NotEqual(t, first[name], content, "%v: %s", other, name)
		}
	}
}

// TestTrainMovesTheWeights from the seed's initial ones; a learning rate of 0 does not.
func TestTrainMovesTheWeights(t *testing.T) {
	for _, solver := range []string{train.SGD, train.Adam, train.AdamW} {
		for _, rate := range []string{"0.01", "0"} {
			folder, printed := tinyRun(t, "--solver", solver, "--lr", rate)
			model, err := safetensors.ReadFile(filepath.Join(folder, "model.safetensors"))
			require.NoError(t, err)
			p := layers.NewParams(dtypeOf(t, "float32"), 1)
			o := options{layer: "multi_head", width: 8, heads: 2, context: 6}
			_, err = o.modelConfig(28).New(p.Scope(""))
			require.NoError(t, err)
			for name, initial := range p.All() {
				now, ok := model.Get(name)
				require.True(t, ok, name)
				require.Equal(t, rate == "0", slices.Equal(initial.Float32s(), now.Data.([]float32)), "%s %s %s", solver, rate, name)
				was, _, _ := norms(initial, initial)
				require.Contains(t, printed, fmt.Sprintf("  %9.4f  ", was))
			}
			require.Equal(t, map[string]int{"0": p.Len(), "0.01": 0}[rate], strings.Count(printed, "     0.0000\n"))
		}
	}
}

// TestTrainFallsBelowBigram: on the built-in text a shortened default run learns
// more than pairs of characters tell, with a margin that no other seed would lose.
func TestTrainFallsBelowBigram(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, trainTo(t.Context(), &out, "--steps", "500", "--eval-every", "0", "--out", filepath.Join(t.TempDir(), "run")))
	row := regexp.MustCompile(`(?m)^ 500 +([0-9.]+) +([0-9.]+) +([0-9.]+) +([0-9.]+)`).FindStringSubmatch(out.String())
	require.NotNil(t, row)
	var losses [4]float64
	for i := range losses {
		_, err := fmt.Sscan(row[i+1], &losses[i])
		require.NoError(t, err)
	}
	training, validation, bigram, unigram := losses[0], losses[1], losses[2], losses[3]
	require.Less(t, validation, bigram-0.1)
	require.Less(t, training, bigram-0.1)
	require.Less(t, bigram, unigram-0.5)
	require.Contains(t, out.String(), "The last validation loss is 0.")
	require.Contains(t, out.String(), " below the bigram's: so\nmuch has the attention learnt from the characters before the last one.\n")
}

// TestTrainTexts of other kinds than prose.
func TestTrainTexts(t *testing.T) {
	for name, text := range map[string]string{
		"line ends of two characters": "The cat sat.\r\nThe dog ran.\r\n",
		"emoji":                       "Hello 😀 wörld 日本語 x ≤ y\n",
		"byte order mark":             "\ufeffabc def\n",
		"terminal codes":              "\x1b[31mred\x1b[0m\x00",
	} {
		t.Run(name, func(t *testing.T) { runText(t, text) })
	}
	t.Run("one character", func(t *testing.T) { runText(t, "a") })
}

// runText trains on a text repeated to more than 200 characters.
func runText(t *testing.T, text string) {
	dir := t.TempDir()
	path := dir + "/text"
	for len([]rune(text)) < 200 {
		text += text
	}
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	var printed bytes.Buffer
	require.NoError(t, trainTo(t.Context(), &printed, append(tinyFlags(path, dir+"/run"), "--sample", "60")...))
	require.NotContains(t, sampled(t, printed.String()), "\x1b")
	require.NotContains(t, sampled(t, printed.String()), "\r")
	commandtest.RequirePicture(t, dir+"/run/attention.png", commandtest.WeightColors())
}
