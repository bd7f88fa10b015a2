package embed

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/internal/golden"
	"attention/internal/safetensors"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// inFolder makes a new folder the current one. It returns a function that runs the command there with the small encoder
// of testdata and a file of lines.
func inFolder(t *testing.T) (embed func(lines string, args ...string) (string, error)) {
	dir, err := golden.Path("encoders", "bert")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	return func(lines string, args ...string) (string, error) {
		require.NoError(t, os.WriteFile("lines", []byte(lines), 0o644))
		return commandtest.Output(context.Background(), New(),
			append([]string{"--model", dir, "--text-file", "lines"}, args...)...)
	}
}

// A line has the same vector in each output format, even an empty line and a last line without a newline.
func TestVectorsOfLines(t *testing.T) {
	embed := inFolder(t)
	const lines = "hello world\r\n\nthe word is hello\nhello world"
	printed, err := embed(lines, "--json")
	require.NoError(t, err)
	rows := strings.Split(strings.TrimSuffix(printed, "\n"), "\n")
	require.Len(t, rows, 4)
	require.Equal(t, rows[0], rows[3])
	var all []float32
	for _, row := range rows {
		var v []float32
		require.NoError(t, json.Unmarshal([]byte(row), &v))
		require.Len(t, v, 8)
		all = append(all, v...)
	}
	printed, err = embed(lines, "--out", "vectors.safetensors")
	require.NoError(t, err)
	require.Equal(t, "In vectors.safetensors: 4 vectors of 8 numbers\n", printed)
	f, err := safetensors.ReadFile("vectors.safetensors")
	require.NoError(t, err)
	require.Len(t, f.Tensors, 1)
	require.Equal(t, "embeddings", f.Tensors[0].Name)
	require.Equal(t, []int{4, 8}, f.Tensors[0].Shape)
	require.Equal(t, all, f.Tensors[0].Data)
	printed, err = embed(lines, "--near", "Hello WORLD", "--top", "3")
	require.NoError(t, err)
	third := pretrained.Cosine(all[:8], all[8:16])
	require.Less(t, third, 0.9)
	require.Equal(t, fmt.Sprintf(" 1.0000  hello world\n 1.0000  hello world\n%7.4f  \n", third), printed)
}

func TestWrongFlagsAreRefused(t *testing.T) {
	embed := inFolder(t)
	for _, row := range []struct{ args, lines, want string }{
		{"", "x", "got 0 of --json, --out and --near, want one"},
		{"--json --out x", "x", "got 2 of --json, --out and --near, want one"},
		{"--near x --top 0", "x", "--top: got 0, want at least 1"},
		{"--json --model=", "x", "--model: missing, want the folder of an encoder"},
		{"--json --model none", "x", "--model: pretrained: none: open none/config.json"},
		{"--json --text-file none", "x", "--text-file: none: "},
		{"--json", "", "--text-file: lines: got an empty file, want a text"},
		{"--json", "a\xff", "--text-file: lines: "},
		{"--out none/x", "x", "--out: "},
	} {
		_, err := embed(row.lines, strings.Fields(row.args)...)
		require.ErrorContains(t, err, row.want, row.args)
	}
}
