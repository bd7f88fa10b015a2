package chapter

import (
	"strings"
	"testing"
	"unicode/utf8"

	"attention/cmd/attention/internal/commandtest"

	"github.com/stretchr/testify/require"
)

// TestChapterChanges: a flag changes the sections that have its setting, and no others.
func TestChapterChanges(t *testing.T) {
	output := func(args ...string) string {
		out, err := commandtest.Output(t.Context(), New(), args...)
		require.NoError(t, err, args)
		for line := range strings.Lines(out) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
		}
		return out
	}
	own := map[string]string{} // the output of each section without flags
	for _, c := range []struct {
		reason  string
		section string
		flags   []string
		want    []string
	}{
		{reason: "other words", section: "2", flags: []string{"--sentence", " Your  cat"},
			want: []string{"\nTokens: Your cat\n", "tensor([[0.9995, 0.6805],\n        [0.6805, 1.2864]])"}},
		{reason: "another seed", section: "5", flags: []string{"--seed", "7"}, want: []string{"(seed 7)\n"}},
		{reason: "the section's own seed", section: "5", flags: []string{"--seed", "123"},
			want: []string{"[0.3061, 0.8210]"}},
		{reason: "three heads", section: "13", flags: []string{"--heads", "3"}, want: []string{"torch.Size([2, 6, 3, 1])"}},
		{reason: "less dropout", section: "10", flags: []string{"--dropout", "0.2"}, want: []string{"1.2500"}},
		{reason: "none", section: "10", flags: []string{"--dropout", "0"}, want: []string{"[1., 1., 1., 1., 1., 1.]"}},
		{reason: "all at once", section: "head|dropout", want: []string{"\nTokens: a b c\n", "(seed 0)"},
			flags: []string{"--heads", "4", "--dropout", "0.1", "--seed", "0", "--sentence", "a b c"}},
	} {
		if own[c.section] == "" {
			own[c.section] = output("--section", c.section)
		}
		out := output(append([]string{"--section", c.section}, c.flags...)...)
		for _, text := range c.want {
			require.Contains(t, out, text, c.reason)
		}
		if c.reason != "the section's own seed" {
			require.NotEqual(t, own[c.section], out, c.reason)
		}
	}
}

func TestChapterRefusesChanges(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{args: []string{"--section", "3", "--heads", "2"},
			want: "--heads: got a value, but no section shown has heads; sections 12, 13, 14, 15, 19, 20 have"},
		{args: []string{"--section", "3", "--dropout", "0.1"},
			want: "--dropout: got a value, but no section shown has dropout; sections 10, 11, 12, 14 have"},
		{args: []string{"--section", "15", "--heads", "5"}, want: "--heads: got 5, want a divisor of out_dim=768"},
		{args: []string{"--heads", "0"}, want: "--heads: got 0, want at least 1"},
		{args: []string{"--section", "10", "--dropout", "NaN"}, want: "--dropout: got NaN, want a number from 0 to below 1"},
		{args: []string{"--sentence", ""}, want: "--sentence: got 0, want 2 to 64 words"},
		{args: []string{"--sentence", "a \x1b[2J"},
			want: `--sentence: got "\x1b[2J", want 1 to 64 bytes of printable text without blanks`},
	} {
		out, err := commandtest.Output(t.Context(), New(), c.args...)
		require.EqualError(t, err, c.want, c.args)
		require.Empty(t, out)
	}
}
