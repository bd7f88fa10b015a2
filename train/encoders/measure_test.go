package encoders_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"attention/internal/golden"
	"attention/train/encoders"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// The measures are those of sentence-transformers' InformationRetrievalEvaluator and of scipy.stats.spearmanr, which
// testdata/encoders/measures.py has written.
func TestMeasures(t *testing.T) {
	path, err := golden.Path("encoders", "measures.json")
	require.NoError(t, err)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	var judged struct {
		Ranks     [][]int
		Retrieval []float64
		Spearman  []struct {
			X, Y []float64
			Want float64
		}
	}
	require.NoError(t, json.Unmarshal(content, &judged))
	for i, m := range encoders.Retrieval(judged.Ranks) {
		require.Equal(t, []string{"recall@1", "recall@10", "MRR@10"}[i], m.Name)
		require.InDelta(t, judged.Retrieval[i], m.Value, 1e-12, m.Name)
	}
	for _, row := range judged.Spearman {
		require.InDelta(t, row.Want, encoders.Spearman(row.X, row.Y), 1e-12)
	}
	require.True(t, math.IsNaN(encoders.Spearman([]float64{1, 1}, []float64{1, 2})))
	require.True(t, math.IsNaN(encoders.Spearman([]float64{1, 1}, []float64{1})))
}

// An encoder finds equal texts: anchors are queries among all positives and negatives, each text once.
func TestEvaluate(t *testing.T) {
	e := small(t)
	same := encoders.List{
		{Texts: []string{"hello", "hello", "the world"}}, {Texts: []string{"the word is", "the word is", "hello"}},
	}
	got, err := encoders.Evaluate(t.Context(), e, same)
	require.NoError(t, err)
	require.Equal(t, []encoders.Measure{{Name: "recall@1", Value: 1}, {Name: "recall@10", Value: 1},
		{Name: "MRR@10", Value: 1}}, got)
	scored := encoders.List{{Texts: []string{"hello", "hello"}, Score: new(1.0)}, {Texts: []string{"hello", "the world"},
		Score: new(0.0)}}
	got, err = encoders.Evaluate(t.Context(), e, scored)
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Equal(t, "Spearman", got[0].Name)
	require.InDelta(t, 1, got[0].Value, 1e-12)
	_, err = encoders.Evaluate(t.Context(), e, encoders.List{text.Example{Text: "a"}})
	require.EqualError(t, err, "encoders: example 1: got no pair of texts, want one")
}
