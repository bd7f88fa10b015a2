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

func caseNames(t testing.TB) (names []string) {
	dir, err := golden.Path("apply")
	require.NoError(t, err)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.Len(t, names, 31)
	return names
}

// editTensors writes the edited tensors of a file to another one, or to itself, and returns its path.
func editTensors(t testing.TB, from, to string, edit func([]safetensors.Tensor) []safetensors.Tensor) string {
	file, err := safetensors.ReadFile(from)
	require.NoError(t, err)
	file.Tensors = edit(file.Tensors)
	require.NoError(t, safetensors.WriteFile(to, file))
	return to
}

// setTensor writes a file with one tensor replaced or added or, if it has no data, removed.
func setTensor(t testing.TB, from, to string, x safetensors.Tensor) string {
	return editTensors(t, from, to, func(all []safetensors.Tensor) []safetensors.Tensor {
		all = slices.DeleteFunc(all, func(t safetensors.Tensor) bool { return t.Name == x.Name })
		if x.Data == nil {
			return all
		}
		return append(all, x)
	})
}

// withTensor is setTensor to a new file.
func withTensor(t testing.TB, path string, x safetensors.Tensor) string {
	return setTensor(t, path, filepath.Join(t.TempDir(), "copy.safetensors"), x)
}

// withoutGradOutput copies the input file without grad_output.
func withoutGradOutput(t testing.TB, f files) files {
	f.input = withTensor(t, f.input, safetensors.Tensor{Name: gradOutput})
	return f
}

// withConfig writes another layer.json.
func (f files) withConfig(t testing.TB, text string) files {
	f.config = filepath.Join(t.TempDir(), "layer.json")
	require.NoError(t, os.WriteFile(f.config, []byte(text), 0o644))
	return f
}

// applied runs a call and returns the tensors it wrote.
func applied(t testing.TB, f files, flags ...string) *safetensors.File {
	_, err := f.run(t, flags...)
	require.NoError(t, err)
	out, err := safetensors.ReadFile(f.output)
	require.NoError(t, err)
	return out
}

// compareWithTorch runs a call and requires that its output has the named tensors of the
// case's reference, nil for all, in the given dtype and within tol, absolute or relative.
func compareWithTorch(
	t *testing.T, name string, f files, names []string, dt safetensors.DType, tol float64, flags ...string,
) {
	t.Helper()
	want := golden.Load(t, "apply/"+name+"/out.safetensors")
	if names == nil {
		names = want.Names()
	}
	var gotNames []string
	for _, r := range applied(t, f, flags...).Tensors {
		gotNames = append(gotNames, r.Name)
		require.Equal(t, dt, r.DType, r.Name)
		require.Equal(t, want.Shape(r.Name), r.Shape, r.Name)
		switch data := r.Data.(type) {
		case []float64:
			golden.Close(t, r.Name, want.Float64(r.Name), data, tol, tol)
		case []float32:
			golden.Close(t, r.Name, want.Float32(r.Name), data, tol, tol)
		}
	}
	require.ElementsMatch(t, names, gotNames)
}

const oldOutput = "what was here before"

// wrongCall is a call of attention apply in a folder of its own, for a test to break.
type wrongCall struct {
	t   *testing.T
	dir string
	files
	flags []string
}

// newWrongCall has the files of the case causal_batch: d_in 5, d_out 6, B 2, T 7.
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

// text replaces layer.json.
func (c *wrongCall) text(text string) { c.file("layer.json", text) }

// tensor replaces or, with nil, removes a tensor of a file, or adds it.
func (c *wrongCall) tensor(path, name string, shape []int, data any) {
	setTensor(c.t, path, path, safetensors.Tensor{Name: name, Shape: shape, Data: data})
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
