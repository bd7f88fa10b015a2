package chapter

import (
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"attention/cmd/attention/internal/commandtest"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// TestChapterReads: the command prints every section in order, each value under its sentence, in 80 columns.
func TestChapterReads(t *testing.T) {
	out, err := commandtest.Output(t.Context(), New())
	require.NoError(t, err)
	rest := out
	for _, s := range chapter.Sections() {
		title := title(s)
		_, after, ok := strings.Cut(rest, title+"\n"+strings.Repeat("=", utf8.RuneCountInString(title))+"\n\n")
		require.True(t, ok, title)
		rest = after
	}
	for line := range strings.Lines(out) {
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
	}
	for _, text := range []string{
		"\n3. Weights to train, step by step (seed 123)\n",
		"\nIts scores with all tokens.\ntensor([1.2705, 1.8524, 1.8111, 1.0795, 0.5577, 1.5440])\n\n",
		"\nThe shape of the keys: one per token.\ntorch.Size([6, 2])\n\n",
		"\nIts shape: sequences, tokens, numbers per token.\ntorch.Size([2, 6, 3])\n\n",
		"\nThe number of parameters of the layer.\n2,360,064\n\n",
	} {
		require.Contains(t, out, text)
	}
}

func TestChapterSection(t *testing.T) {
	titles := func(args ...string) (titles []string) {
		out, err := commandtest.Output(t.Context(), New(), args...)
		require.NoError(t, err)
		var before string
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, "==") {
				titles = append(titles, strings.TrimSpace(before))
			}
			before = line
		}
		return titles
	}
	require.Equal(t, []string{"2. Simple self-attention for all tokens"}, titles("--section", "2"))
	require.Equal(t, []string{"10. Dropout (seed 789)"}, titles("--section", "^dropout", "--dtype", "float64"))
	require.Equal(t, []string{"8. A causal mask of zeros (seed 789)", "9. A causal mask of minus infinity (seed 789)"},
		titles("--section", "^a causal.*(zero|infinity)"))
}

func TestChapterRefuses(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{args: []string{"--section", "0"}, want: "--section: got 0, want 1 to 29"},
		{args: []string{"--section", "30"}, want: "--section: got 30, want 1 to 29"},
		{args: []string{"--section", "transformer"},
			want: `--section: got "transformer", which is in no heading; see attention chapter --help`},
		{args: []string{"--section", "("}, want: "--section: error parsing regexp: missing closing ): `(?i)(`"},
		{args: []string{"--dtype", "float16"}, want: `--dtype: got "float16", want float32 or float64`},
		{args: []string{"--seed", "x"}, want: `--seed: got "x", want a whole number`},
		{args: []string{"--pages", "3"}, want: "unknown flag: --pages; see attention chapter --help"},
		{args: []string{"--pictures", ""}, want: "--pictures: got nothing, want the name of a folder"},
		{args: []string{"simple"}, want: `unknown command "simple" for "attention chapter"`},
	} {
		out, err := commandtest.Output(t.Context(), New(), c.args...)
		require.EqualError(t, err, c.want, c.args)
		require.Empty(t, out)
	}
}

// TestChapterStopsWhenNobodyReads: an error of the writer is the command's.
func TestChapterStopsWhenNobodyReads(t *testing.T) {
	r, w := io.Pipe()
	require.NoError(t, r.Close())
	require.ErrorIs(t, walk(t.Context(), w, tensor.Float32, chapter.Sections()[:1]), io.ErrClosedPipe)
}
