package apply

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/internal/dense"
	"attention/internal/golden"
	"attention/internal/safetensors"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// must checks the error of a call that a test needs but does not test.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// files are the paths of the files of one call.
type files struct{ config, weights, input string }

// run runs the layer, in the input's own type if dt is not set.
func (f files) run(t testing.TB, dt ...tensor.Dtype) ([]Tensor, error) {
	l, err := Read(f.config)
	if err != nil {
		return nil, err
	}
	c := Config{Weights: f.weights, Input: f.input}
	if len(dt) > 0 {
		c.Dtype = dt[0]
	}
	return l.Run(t.Context(), c)
}

// caseFiles are the files of a case in testdata/apply.
func caseFiles(t testing.TB, name string) files {
	dir := must(golden.Path("apply", name))
	f := files{
		config:  filepath.Join(dir, "layer.json"),
		weights: filepath.Join(dir, "w.safetensors"),
		input:   filepath.Join(dir, "in.safetensors"),
	}
	if _, err := os.Stat(f.weights); err != nil {
		require.True(t, strings.HasPrefix(name, "simple"), "%s: no weights", name)
		f.weights = ""
	}
	return f
}

func caseNames(t testing.TB) (names []string) {
	for _, e := range must(os.ReadDir(must(golden.Path("apply")))) {
		names = append(names, e.Name())
	}
	require.Len(t, names, 43)
	return names
}

// editTensors writes the edited tensors of a file to another one, or to itself, and returns its path.
func editTensors(t testing.TB, from, to string, edit func([]safetensors.Tensor) []safetensors.Tensor) string {
	file := must(safetensors.ReadFile(from))
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

// applied runs a call and returns the tensors that it computes, in the form of a file.
func applied(t testing.TB, f files) *safetensors.File {
	out := must(f.run(t))
	file := new(safetensors.File)
	for _, x := range out {
		file.Tensors = append(file.Tensors,
			safetensors.Tensor{Name: x.Name, Shape: x.Value.Shape(), Data: dense.Slice(x.Value)})
	}
	return file
}

// compareWithTorch runs a call and requires that its output has the named tensors of the
// case's reference, nil for all, in the given dtype and within tol, absolute or relative.
func compareWithTorch(
	t *testing.T, name string, f files, names []string, want tensor.Dtype, tol float64, dt ...tensor.Dtype,
) {
	t.Helper()
	reference := golden.Load(t, "apply/"+name+"/out.safetensors")
	if names == nil {
		names = reference.Names()
	}
	var gotNames []string
	for _, r := range must(f.run(t, dt...)) {
		gotNames = append(gotNames, r.Name)
		require.Equal(t, want, r.Value.Dtype(), r.Name)
		require.Equal(t, reference.Shape(r.Name), []int(r.Value.Shape()), r.Name)
		switch data := dense.Slice(r.Value).(type) {
		case []float64:
			golden.Close(t, r.Name, reference.Float64(r.Name), data, tol, tol)
		case []float32:
			golden.Close(t, r.Name, reference.Float32(r.Name), data, tol, tol)
		}
	}
	require.ElementsMatch(t, names, gotNames)
}

// wrongCall is a call in its own folder, which a test modifies to be wrong.
type wrongCall struct {
	t   *testing.T
	dir string
	files
}

// newWrongCall has the files of the case causal_batch: embed_dim 5, out_dim 6, B 2, T 7.
func newWrongCall(t *testing.T) *wrongCall { return newWrongCallOf(t, "causal_batch") }

// newWrongCallOf has the files of a case.
func newWrongCallOf(t *testing.T, name string) *wrongCall {
	from, c := caseFiles(t, name), &wrongCall{t: t, dir: t.TempDir()}
	copied := func(path, name string) string {
		return c.file(name, string(must(os.ReadFile(path))))
	}
	c.files = files{
		config:  copied(from.config, "layer.json"),
		weights: copied(from.weights, "w.safetensors"),
		input:   copied(from.input, "in.safetensors"),
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

// message runs the call and returns its error, which is one line, with the folder's name removed.
func (c *wrongCall) message() string {
	_, err := c.run(c.t)
	require.Error(c.t, err)
	require.NotContains(c.t, err.Error(), "\n")
	require.NotContains(c.t, err.Error(), "panic")
	return strings.ReplaceAll(err.Error(), c.dir+string(filepath.Separator), "")
}
