package pretrained_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"attention/internal/dense"
	"attention/internal/golden"
	"attention/layers"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// publishedText is a text for a published model.
const publishedText = "The city of Venice is built on more than a hundred small islands in a shallow lagoon. Its canals serve as " +
	"roads, and boats carry people, bread, letters and building stone from door to door. In 1630 a third of the people " +
	"died of the plague; those who were left built a church of white stone to give thanks. def add(a, b):\n    return a + b"

// smolLM2 returns SmolLM2-135M-Instruct as published, and the ids of publishedText.
func smolLM2(t *testing.T) (*pretrained.GPT, []int64) {
	g, err := pretrained.ReadGPT(golden.Published(t, "smollm2"))
	require.NoError(t, err)
	ids, err := g.Tokenizer.(*text.SubwordTokenizer).Encode(publishedText)
	require.NoError(t, err)
	var all []int64
	for _, id := range ids {
		all = append(all, int64(id))
	}
	return g, all
}

// topShare returns the share of rows whose largest number has the same index in both tables.
func topShare(a, b [][]float64) float64 {
	same := 0.0
	for i := range a {
		if slices.Index(a[i], slices.Max(a[i])) == slices.Index(b[i], slices.Max(b[i])) {
			same++
		}
	}
	return same / float64(len(a))
}

// ownDifference returns the mean difference of the log-probabilities of a text's own tokens.
func ownDifference(ids []int64, a, b [][]float64) (sum float64) {
	for i, id := range ids[1:] {
		sum += math.Abs(a[i][id]-b[i][id]) / float64(len(ids)-1)
	}
	return sum
}

// The cost of exports of a published model, as the manual states it: the largest difference of a log-probability, and
// how often the likeliest token stays the same.
func TestPublishedExports(t *testing.T) {
	g, ids := smolLM2(t)
	requireLlamacpp(t)
	want := logProbs(run(t, g, ids, len(ids)), len(ids))
	for _, row := range []struct {
		typ        pretrained.GGUFType
		most, same float64
	}{{"f32", 1e-3, 1}, {"f16", 0.1, 0.97}, {"bf16", 0.6, 0.95}, {"q8_0", 2, 0.95}} {
		path := filepath.Join(t.TempDir(), "model.gguf")
		require.NoError(t, g.WriteGGUF(path, row.typ))
		got := llamacpp(t, job{Model: path, IDs: ids})[0]
		require.NoError(t, os.Remove(path))
		require.Empty(t, got.Error)
		most, same := furthest(t, want, got.LogProbs), topShare(want, got.LogProbs)
		t.Logf("%s: %.1e, of the text's own tokens %.1e on average, the likeliest is the same for %.1f %% of %d", row.typ, most,
			ownDifference(ids, want, got.LogProbs), 100*same, len(ids))
		require.Less(t, most, row.most, row.typ)
		require.GreaterOrEqual(t, same, row.same, row.typ)
	}
}

// An adapter that is merged in bfloat16, the base's type, is rounded; in float32 it is not.
func TestPublishedMerges(t *testing.T) {
	g, ids := smolLM2(t)
	require.NoError(t, g.Params.AddLoRA(layers.LoRAConfig{Rank: 8, Alpha: 16, Seed: 1}))
	r := rand.New(rand.NewPCG(3, 4))
	for _, value := range g.Params.Own() {
		if data := dense.Float64s(value); data[0] == 0 { // B
			for i := range data {
				data[i] = 0.005 * r.NormFloat64()
			}
			dense.SetFloats(value, data)
		}
	}
	want := logProbs(run(t, g, ids, len(ids)), len(ids))
	require.Equal(t, "bfloat16", g.Rounds(pretrained.WriteConfig{Format: pretrained.HuggingFace}))
	require.Empty(t, g.Rounds(pretrained.WriteConfig{Format: pretrained.HuggingFace, Dtype: "float32"}))
	for _, row := range []struct {
		dtype string
		most  float64
	}{{"", 1}, {"float32", 1e-3}} {
		dir := t.TempDir()
		_, err := g.Write(dir, pretrained.WriteConfig{Format: pretrained.HuggingFace, Dtype: row.dtype})
		require.NoError(t, err)
		whole, err := pretrained.ReadGPT(dir)
		require.NoError(t, err)
		got := logProbs(run(t, whole, ids, len(ids)), len(ids))
		most := furthest(t, want, got)
		t.Logf("merged in %q: %.1e, the likeliest token is the same for %.1f %%", row.dtype, most, 100*topShare(want, got))
		require.Less(t, most, row.most)
	}
}
