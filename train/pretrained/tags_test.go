package pretrained_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"attention/internal/golden"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// fromJSON reads a file that testdata/encoders/pipelines.py made.
func fromJSON(t *testing.T, name string, to any) {
	path, err := golden.Path("encoders", name)
	require.NoError(t, err)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, to))
}

// Spans are those of transformers' TokenClassificationPipeline with aggregation_strategy="simple", for 50 texts with
// accents, unknown words, special tokens, and more tokens than the model reads.
func TestSpans(t *testing.T) {
	var want struct {
		Texts []string
		Spans map[string][][]struct {
			Label      string
			Score      float64
			Start, End int
		}
	}
	fromJSON(t, "tags.json", &want)
	require.Len(t, want.Texts, 50)
	for name, of := range want.Spans {
		e, err := pretrained.OpenTokenClassifier(encoderFolder(t, name))
		require.NoError(t, err)
		tagger, err := e.Tagger()
		require.NoError(t, err)
		got, tokens, err := tagger.Spans(t.Context(), want.Texts...)
		require.NoError(t, err)
		found, long := 0, 0
		for i, text := range want.Texts {
			require.Len(t, got[i], len(of[i]), "%s: %q", name, text)
			for j, span := range got[i] {
				w := of[i][j]
				require.Equal(t, w.Label, span.Label, "%s: %q", name, text)
				require.Equal(t, [2]int{w.Start, w.End}, span.Runes, "%s: %q", name, text)
				require.Equal(t, string([]rune(text)[w.Start:w.End]), span.Text)
				require.Equal(t, span.Text, text[span.Bytes[0]:span.Bytes[1]])
				require.Equal(t, w.Start, utf8.RuneCountInString(text[:span.Bytes[0]]))
				require.InDelta(t, w.Score, span.Score, 1e-10)
				found++
			}
			if tokens[i] > e.Sentence.MaxLength {
				long++
			}
		}
		require.Greater(t, found, 100)
		require.Greater(t, long, 3)
	}
}

// With FirstTokens a span begins and ends where a word does, and its label is that of the first token of its first word,
// which begins a span or is in one of the same label without FirstTokens.
func TestSpansOfFirstTokens(t *testing.T) {
	const text = "qqq words xyzzy hello zab qrs"
	split, first := 0, 0
	for _, name := range []string{"bert_tags", "distilbert_tags"} {
		e, err := pretrained.OpenTokenClassifier(encoderFolder(t, name))
		require.NoError(t, err)
		tagger, err := e.Tagger()
		require.NoError(t, err)
		simple, _, err := tagger.Spans(t.Context(), text)
		require.NoError(t, err)
		tagger.FirstTokens = true
		got, _, err := tagger.Spans(t.Context(), text)
		require.NoError(t, err)
		isEdge := func(at int) bool { return at == 0 || at == len(text) || text[at] == ' ' || text[at-1] == ' ' }
		for _, s := range simple[0] {
			if !isEdge(s.Bytes[0]) || !isEdge(s.Bytes[1]) {
				split++
			}
		}
		for _, s := range got[0] {
			first++
			require.True(t, isEdge(s.Bytes[0]) && isEdge(s.Bytes[1]), "%+v", s)
			require.True(t, slices.ContainsFunc(simple[0], func(of pretrained.Span) bool {
				return of.Label == s.Label && of.Bytes[0] <= s.Bytes[0] && s.Bytes[0] < of.Bytes[1]
			}), "%+v", s)
		}
	}
	require.Greater(t, split, 2)
	require.Greater(t, first, 2)
}

// Scores are those of the predict method of sentence-transformers' CrossEncoder, also of pairs that are too long, and
// the same alone and among others.
func TestScoresOfPairs(t *testing.T) {
	var want struct {
		Queries, Texts []string
		Scores         map[string][][]float64
	}
	fromJSON(t, "ranks.json", &want)
	for name, of := range want.Scores {
		e, err := pretrained.OpenCrossEncoder(encoderFolder(t, name))
		require.NoError(t, err)
		require.Equal(t, name == "bert_pair", e.Sigmoid)
		ranker, err := e.Ranker()
		require.NoError(t, err)
		for i, query := range want.Queries {
			got, err := ranker.Scores(t.Context(), query, want.Texts...)
			require.NoError(t, err)
			golden.Close(t, name+": "+query, of[i], got, 1e-6, 1e-6)
			for j := range 5 {
				alone, err := ranker.Scores(t.Context(), query, want.Texts[j*10])
				require.NoError(t, err)
				require.InDelta(t, got[j*10], alone[0], 1e-12, "padding changes nothing")
			}
		}
	}
}

// Taggers and rankers refuse what they cannot read, and end with their context.
func TestTaggerAndRankerErrors(t *testing.T) {
	e, err := pretrained.OpenEncoder(encoderFolder(t, "bert"))
	require.NoError(t, err)
	_, err = e.Tagger()
	require.EqualError(t, err, "pretrained: tagger: got an Encoder without Tokens, want one of OpenTokenClassifier")
	_, err = e.Ranker()
	require.EqualError(t, err,
		"pretrained: ranker: got an Encoder that does not score pairs, want one of OpenCrossEncoder")
	e, err = pretrained.OpenTokenClassifier(encoderFolder(t, "bert_tags"))
	require.NoError(t, err)
	tagger, err := e.Tagger()
	require.NoError(t, err)
	_, _, err = tagger.Spans(t.Context(), "x", "a\xff")
	require.ErrorContains(t, err, "pretrained: spans: text 1: ")
	var none context.Context
	_, _, err = tagger.Spans(none, "x")
	require.ErrorContains(t, err, "context: got nil, want one")
	pairs, err := pretrained.OpenCrossEncoder(encoderFolder(t, "bert_pair"))
	require.NoError(t, err)
	ranker, err := pairs.Ranker()
	require.NoError(t, err)
	_, err = ranker.Scores(t.Context(), "a\xff", "x")
	require.ErrorContains(t, err, "pretrained: scores: text 0: ")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	texts := strings.Split(strings.Repeat("x\n", 1000), "\n")
	_, err = ranker.Scores(ctx, "x", texts...)
	require.ErrorIs(t, err, context.Canceled)
	_, _, err = tagger.Spans(ctx, texts...)
	require.ErrorIs(t, err, context.Canceled)
}
