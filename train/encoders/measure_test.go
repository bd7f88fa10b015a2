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

// Precision, recall and F1 of spans are those of seqeval, which testdata/encoders/spans.py has written.
func TestSpanF1(t *testing.T) {
	path, err := golden.Path("encoders", "spans.json")
	require.NoError(t, err)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	var groups []struct {
		Want, Got [][]string
		Measures  []float64
	}
	require.NoError(t, json.Unmarshal(content, &groups))
	require.InDelta(t, 0.5, groups[0].Measures[2], 1e-12, "the F1 of seqeval's README")
	for i, g := range groups {
		got, err := encoders.SpanF1(g.Want, g.Got)
		require.NoError(t, err)
		for j, m := range got {
			require.Equal(t, []string{"precision", "recall", "F1"}[j], m.Name)
			require.InDelta(t, g.Measures[j], m.Value, 1e-12, "%d: %s", i, m.Name)
		}
	}
	got, err := encoders.SpanF1([][]string{{"I-", "PER", "I-PER", ""}}, [][]string{{"B-", "B-PER", "PER", "I-"}})
	require.NoError(t, err)
	require.Equal(t, 1.0, got[2].Value, "classes without a label or a prefix")
	_, err = encoders.SpanF1([][]string{{"O"}}, nil)
	require.EqualError(t, err, "encoders: spans: got the classes of 0 texts, want those of 1")
	_, err = encoders.SpanF1([][]string{{"O"}, {"O"}}, [][]string{{"O"}, {}})
	require.EqualError(t, err, "encoders: spans: text 1: got 0 classes, want 1")
}
