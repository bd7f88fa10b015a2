package tag

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/internal/golden"

	"github.com/stretchr/testify/require"
)

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

// Both forms of output have the spans of transformers' TokenClassificationPipeline.
func TestPrintedSpans(t *testing.T) {
	path, err := golden.Path("encoders", "tags.json")
	require.NoError(t, err)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	var want struct {
		Texts []string
		Spans map[string][][]struct {
			Label      string
			Score      float64
			Start, End int
		}
	}
	require.NoError(t, json.Unmarshal(content, &want))
	tag := inFolder(t)
	require.NoError(t, os.WriteFile("texts", []byte(strings.Join(want.Texts, "\n")), 0o644))
	for name, of := range want.Spans {
		printed, err := tag(name, "--text-file", "texts", "--json")
		require.NoError(t, err)
		require.Regexp(t, `window is 24 tokens: the ends of \d+ of 50 texts are not read; the longest has \d+\n`, printed)
		rows := strings.Split(printed, "\n")
		for i, text := range want.Texts {
			var got tagged
			require.NoError(t, json.Unmarshal([]byte(rows[i]), &got), rows[i])
			require.Equal(t, text, got.Text)
			require.NotNil(t, got.Spans)
			require.Len(t, got.Spans, len(of[i]))
			lines, runes := []string{}, []rune(text)
			for j, span := range got.Spans {
				w := of[i][j]
				require.Equal(t, w.Label, span.Label)
				require.Equal(t, [2]int{w.Start, w.End}, span.Runes)
				require.InDelta(t, w.Score, span.Score, 1e-6)
				from := len(string(runes[:w.Start]))
				part := string(runes[w.Start:w.End])
				require.Equal(t, [2]int{from, from + len(part)}, span.Bytes)
				lines = append(lines, fmt.Sprintf("  %s  %.4f  %d:%d  ", w.Label, w.Score, from, from+len(part)))
			}
			if i > 4 {
				continue
			}
			plain, err := tag(name, "--text", text)
			require.NoError(t, err)
			shown := strings.Split(strings.TrimSuffix(plain, "\n"), "\n")[1:]
			require.Len(t, shown, len(lines))
			for j, line := range lines {
				require.True(t, strings.HasPrefix(shown[j], line), "%q, want %q", shown[j], line)
			}
		}
	}
}

// Wrong flags and models are refused in one line.
func TestWrongFlagsAreRefused(t *testing.T) {
	tag := inFolder(t)
	require.NoError(t, os.WriteFile("bad", []byte("a\xff"), 0o644))
	for _, row := range []struct{ model, args, want string }{
		{"bert_tags", "", "--text: got no text, want one"},
		{"bert_tags", "--text x --text-file bad", "--text-file: got a file besides --text, want one of them"},
		{"bert_tags", "--text-file bad", "--text-file: bad: "},
		{"bert_tags", "--text x --model=", "--model: missing, want the folder of an encoder"},
		{"bert", "--text x", "weights: got no classifier.weight, want those of BertForTokenClassification"},
		{"bert_class", "--text x", "architectures: got BertForSequenceClassification, want BertForTokenClassification"},
	} {
		_, err := tag(row.model, strings.Fields(row.args)...)
		require.ErrorContains(t, err, row.want, row.args)
		require.NotContains(t, err.Error(), "\n")
	}
}
