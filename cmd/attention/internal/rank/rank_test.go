package rank

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/internal/golden"

	"github.com/stretchr/testify/require"
)

// reference are the scores of sentence-transformers' CrossEncoder.
type reference struct {
	Queries, Texts []string
	Scores         map[string][][]float64
}

func read(t *testing.T) (want reference) {
	path, err := golden.Path("encoders", "ranks.json")
	require.NoError(t, err)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, &want))
	return want
}

// inFolder makes a new folder the current one. It returns a function that runs the command there with a model of
// testdata.
func inFolder(t *testing.T) func(model string, args ...string) (string, error) {
	models, err := golden.Path("encoders", ".")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	return func(model string, args ...string) (string, error) {
		args = append([]string{"--model", filepath.Join(models, model)}, args...)
		return commandtest.Output(context.Background(), New(), args...)
	}
}

// Lines come in the order of the scores of CrossEncoder, equal ones in the order of the file, in both forms of output.
func TestOrderOfScores(t *testing.T) {
	want, rank := read(t), inFolder(t)
	require.NoError(t, os.WriteFile("lines", []byte(strings.Join(want.Texts, "\r\n")), 0o644))
	for name, all := range want.Scores {
		order := make([]int, len(want.Texts))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[0][b], all[0][a]) })
		printed, err := rank(name, "--query", want.Queries[0], "--text-file", "lines", "--json")
		require.NoError(t, err)
		rows := strings.Split(strings.TrimSuffix(printed, "\n"), "\n")
		require.Len(t, rows, len(order))
		for i, row := range rows {
			var got scored
			require.NoError(t, json.Unmarshal([]byte(row), &got))
			require.Equal(t, order[i]+1, got.Line)
			require.Equal(t, want.Texts[order[i]], got.Text)
			require.InDelta(t, all[0][order[i]], got.Score, 1e-6)
		}
		short, err := rank(name, "--query", want.Queries[0], "--text-file", "lines", "--top", "3")
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSuffix(short, "\n"), "\n")
		require.Len(t, lines, 3)
		for i, line := range lines {
			require.True(t, strings.HasPrefix(line, fmt.Sprintf("%7.4f  ", all[0][order[i]])), line)
		}
	}
}

// Wrong flags and models are refused in one line.
func TestWrongFlagsAreRefused(t *testing.T) {
	rank := inFolder(t)
	require.NoError(t, os.WriteFile("lines", []byte("a\xff"), 0o644))
	require.NoError(t, os.WriteFile("good", []byte("a"), 0o644))
	for _, row := range []struct{ model, args, want string }{
		{"bert_pair", "", "--query: missing, want a text"},
		{"bert_pair", "--query x", "--text-file: missing, want a file with a text in each line"},
		{"bert_pair", "--query x --text-file good --top -1", "--top: got -1, want at least 0"},
		{"bert_pair", "--query x --text-file lines", "--text-file: lines: "},
		{"bert_pair", "--query x --text-file good --model=", "--model: missing, want the folder of a cross-encoder"},
		{"bert", "--query x --text-file good", "weights: got no classifier.weight, want those of BertForSequence"},
		{"bert_class", "--query x --text-file good", "labels: got 3, want one, the score of a pair"},
	} {
		_, err := rank(row.model, strings.Fields(row.args)...)
		require.ErrorContains(t, err, row.want, row.args)
		require.NotContains(t, err.Error(), "\n")
	}
}
