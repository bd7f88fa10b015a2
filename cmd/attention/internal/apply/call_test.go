package apply

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/term"
	"attention/internal/golden"
	"attention/internal/safetensors"
	"attention/layers/apply"

	"github.com/stretchr/testify/require"
)

// files are the paths of the four files of one call.
type files struct{ config, weights, input, output string }

func (f files) run(t testing.TB, more ...string) (string, error) {
	args := []string{"--config", f.config, "--input", f.input, "--output", f.output}
	if f.weights != "" {
		args = append(args, "--weights", f.weights)
	}
	return commandtest.Output(t.Context(), New(), append(args, more...)...)
}

// caseFiles are the files of a case in testdata/apply, the output in a new folder.
func caseFiles(t testing.TB, name string) files {
	dir, err := golden.Path("apply", name)
	require.NoError(t, err)
	f := files{
		config:  filepath.Join(dir, "layer.json"),
		weights: filepath.Join(dir, "w.safetensors"),
		input:   filepath.Join(dir, "in.safetensors"),
		output:  filepath.Join(t.TempDir(), "out.safetensors"),
	}
	if _, err := os.Stat(f.weights); err != nil {
		require.True(t, strings.HasPrefix(name, "simple"), "%s: no weights", name)
		f.weights = ""
	}
	return f
}

// withoutGradOutput copies the input file without grad_output.
func withoutGradOutput(t testing.TB, f files) files {
	file, err := safetensors.ReadFile(f.input)
	require.NoError(t, err)
	file.Tensors = slices.DeleteFunc(file.Tensors, func(t safetensors.Tensor) bool { return t.Name == "grad_output" })
	f.input = filepath.Join(t.TempDir(), "copy.safetensors")
	require.NoError(t, safetensors.WriteFile(f.input, file))
	return f
}

const oldOutput = "what was here before"

// wrongCall is a call of attention apply in a folder of its own, for a test to break.
type wrongCall struct {
	t   *testing.T
	dir string
	files
	flags []string
}

// newWrongCall has the files of the case causal_batch: embed_dim 5, out_dim 6, B 2, T 7.
func newWrongCall(t *testing.T) *wrongCall { return newWrongCallOf(t, "causal_batch") }

// newWrongCallOf has the files of a case.
func newWrongCallOf(t *testing.T, name string) *wrongCall {
	from, c := caseFiles(t, name), &wrongCall{t: t, dir: t.TempDir()}
	copied := func(path, name string) string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return c.file(name, string(text))
	}
	c.files = files{
		config:  copied(from.config, "layer.json"),
		weights: copied(from.weights, "w.safetensors"),
		input:   copied(from.input, "in.safetensors"),
		output:  c.file("out.safetensors", oldOutput),
	}
	return c
}

// file writes a file into the folder.
func (c *wrongCall) file(name, text string) string {
	path := filepath.Join(c.dir, name)
	require.NoError(c.t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// message runs the call and returns its error, as main prints it, with the folder's
// name cut out. The old output and nothing else must be there.
func (c *wrongCall) message() string {
	before, err := os.ReadDir(c.dir)
	require.NoError(c.t, err)
	printed, err := c.run(c.t, c.flags...)
	require.Error(c.t, err)
	require.Empty(c.t, printed)
	require.NotContains(c.t, err.Error(), "\n")
	require.NotContains(c.t, err.Error(), "panic")
	after, errDir := os.ReadDir(c.dir)
	require.NoError(c.t, errDir)
	require.Len(c.t, after, len(before))
	text, errOld := os.ReadFile(filepath.Join(c.dir, "out.safetensors"))
	require.NoError(c.t, errOld)
	require.Equal(c.t, oldOutput, string(text))
	return strings.ReplaceAll(term.OneLine(err), c.dir+string(filepath.Separator), "")
}

// TestApplyHelp: the help has the reference of the files, and every flag.
func TestApplyHelp(t *testing.T) {
	out, err := commandtest.Output(t.Context(), New(), "--help")
	require.NoError(t, err)
	require.Contains(t, out, apply.Reference)
	for _, flag := range []string{"--config file", "--weights file", "--input file", "--output file", "--dtype type"} {
		require.Contains(t, out, flag)
	}
	for line := range strings.Lines(help + "\n" + example) {
		require.LessOrEqual(t, len([]rune(strings.TrimRight(line, "\n"))), 80, line)
	}
}
