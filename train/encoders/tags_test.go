package encoders_test

import (
	"testing"

	"attention/graph"
	"attention/train/encoders"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// The first piece of a word has its tag, as in transformers' example of token classification: other pieces, [CLS] and
// [SEP] have none, and neither have words that are cut off or have no tokens.
func TestTagsOfPieces(t *testing.T) {
	e := small(t)
	words := []string{"hello", "qqq", "\u200d", "a(b", "the"}
	var pieces []int
	for _, w := range words {
		ids, err := e.Tokenizer.Encode(w)
		require.NoError(t, err)
		pieces = append(pieces, len(ids))
	}
	require.Equal(t, []int{1, 3, 0, 3, 1}, pieces)
	for _, row := range []struct {
		longest     int
		places, tag []int
	}{{24, []int{1, 2, 5, 8}, []int{0, 1, 1, 0}}, {6, []int{1, 2}, []int{0, 1}}} {
		c := encoders.Config{Batch: 1, Once: true, Classes: []string{"B-X", "O"}, Tagged: true, MaxLength: row.longest}
		s, err := encoders.NewBatches(t.Context(), e, encoders.List{
			{Words: words, Tags: []string{"B-X", "O", "B-X", "O", "B-X"}}}, c)
		require.NoError(t, err)
		b := epoch(t, s)[0]
		n := len(row.places)
		require.Equal(t, n, b.Tokens)
		require.Equal(t, row.places, b.Inputs[encoders.Rows].Ints()[:n])
		targets := b.Inputs[encoders.Targets].Ints()
		require.Equal(t, row.tag, targets[:n])
		for _, target := range targets[n:] {
			require.Equal(t, graph.IgnoreTarget, target)
		}
	}
}

// A pair is read together, with the types of EncodeTexts, and its target is its score.
func TestPairsReadTogether(t *testing.T) {
	e := small(t)
	all := encoders.List{{Texts: []string{"a b", "c"}, Score: new(1.0)}, {Texts: []string{"a", "b c d"}, Score: new(0.25)}}
	s, err := encoders.NewBatches(t.Context(), e, all, encoders.Config{Batch: 2, Once: true, Ranked: true})
	require.NoError(t, err)
	b := epoch(t, s)[0]
	width := b.Inputs[encoders.IDs(0)].Shape()[1]
	for i, row := range rowsOf(b, 0) {
		want, err := e.Tokenizer.EncodeTexts(text.TruncationConfig{}, all[i].Texts...)
		require.NoError(t, err)
		require.Equal(t, want.IDs, row)
		require.Equal(t, want.Types, b.Inputs[encoders.Types].Ints()[i*width:i*width+len(row)])
	}
	require.Equal(t, []float64{1, 0.25}, b.Inputs[encoders.Scores].Data())
	require.Equal(t, []int{2, 1}, []int(b.Inputs[encoders.Scores].Shape()))
	require.NoError(t, e.AddCrossEncoder(1))
	got, err := encoders.EvaluateRanks(t.Context(), e, all)
	require.NoError(t, err)
	require.Equal(t, "Spearman", got[0].Name, "no query has a relevant and another text")
	// A query whose three other texts are the relevant one: equal scores, of which the relevant one comes last.
	same := encoders.List{}
	for i := range 4 {
		same = append(same, text.Example{Texts: []string{"a", "b"}, Score: new(float64(min(i, 1) ^ 1))})
	}
	got, err = encoders.EvaluateRanks(t.Context(), e, same)
	require.NoError(t, err)
	require.Equal(t, []encoders.Measure{{Name: "MRR@10", Value: 0.25}}, got)
}
