package train

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/term"
	"attention/train/record"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// A head has collapsed if its entropy is below 0.1 nats or NaN.
func TestCollapsedHeads(t *testing.T) {
	for _, c := range []struct {
		want   string
		first  []record.Number
		second []record.Number
	}{
		{first: []record.Number{0.1, 2}, second: []record.Number{3, 0.5},
			want: "entropy 0.10 nats (h.0.attn, head 0) to 3.00 " +
				"(h.1.attn, head 0), largest score 8.00 (h.1.attn, head 1)"},
		{first: []record.Number{0.0999, 2}, second: []record.Number{0, 0.5}, want: "; 2 of 4 heads have collapsed: " +
			"their entropy is below 0.1 nats"},
		{first: []record.Number{record.Number(math.NaN()), 2}, second: []record.Number{1, 0.5},
			want: "; 1 of 4 heads has collapsed: its entropy is below 0.1 nats"},
	} {
		var printed bytes.Buffer
		out := term.NewOutput(&printed)
		r := &training{corpus: &settings.Corpus{Corpus: &text.Corpus{}},
			Session: &session.Session{Out: out, Progress: term.NewProgress(out, 1)}}
		r.printHeads(record.Record{Step: 7, Numbers: map[string][]record.Number{
			"entropy.transformer.h.0.attn": c.first, "entropy.transformer.h.1.attn": c.second,
			"largest_score.transformer.h.0.attn": {1, 2}, "largest_score.transformer.h.1.attn": {4, 8}}})
		text := strings.Join(strings.Fields(printed.String()), " ")
		require.Contains(t, text, c.want)
		require.Equal(t, strings.Contains(c.want, "collapsed"), strings.Contains(text, "collapsed"), text)
	}
}

func TestTrainWrongHeads(t *testing.T) {
	requireRefused(t, []refused{
		{args: "--layer additive --head-stats", want: "--head-stats: got layer additive, which has no heads, want another"},
	})
}

func TestHeadNumbers(t *testing.T) {
	r := record.Record{Numbers: map[string][]record.Number{
		"entropy.h.1": {2, 0.5}, "entropy.h.0": {1, 2}, "entropyless.h.0": {7}, "largest_score.h.0": {8},
	}}
	require.Equal(t, []headNumber{{layer: "h.1", head: 1, number: 0.5}, {layer: "h.0", number: 1},
		{layer: "h.0", head: 1, number: 2}, {layer: "h.1", number: 2}}, headNumbers(r, "entropy"))
	require.Empty(t, headNumbers(r, "largest"))
	r.Numbers["entropy.h.0"][1] = record.Number(math.NaN())
	require.Equal(t, 1, headNumbers(r, "entropy")[0].head, "NaN comes first")
}
