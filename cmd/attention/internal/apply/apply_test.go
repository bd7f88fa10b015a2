package apply

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/internal/golden"
	"attention/internal/safetensors"

	"github.com/stretchr/testify/require"
)

// runApply runs attention apply the way main does and returns what it prints.
func runApply(ctx context.Context, args ...string) (string, error) {
	out := new(bytes.Buffer)
	err := commandtest.Run(ctx, out, out, New(), args...)
	return out.String(), err
}

// files are the paths of the four files of one call.
type files struct{ config, weights, input, output string }

func (f files) run(t testing.TB, more ...string) (string, error) {
	args := []string{"--config", f.config, "--input", f.input, "--output", f.output}
	if f.weights != "" {
		args = append(args, "--weights", f.weights)
	}
	return runApply(t.Context(), append(args, more...)...)
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

// TestApplySaysWhatItWrote: the command prints one line about its output.
func TestApplySaysWhatItWrote(t *testing.T) {
	f := caseFiles(t, "multi_head_batch")
	out, err := withoutGradOutput(t, f).run(t)
	require.NoError(t, err)
	require.Equal(t, "wrote "+f.output+": output (2, 7, 6), weights (2, 3, 7, 7)\n", out)
}

// TestApplyIsRepeatable: a second call replaces the output with equal bytes and leaves
// no other file beside it.
func TestApplyIsRepeatable(t *testing.T) {
	f := caseFiles(t, "multi_head_batch")
	var first []byte
	for range 2 {
		_, err := f.run(t)
		require.NoError(t, err)
		bytes, err := os.ReadFile(f.output)
		require.NoError(t, err)
		if first == nil {
			first = bytes
			require.NoError(t, os.WriteFile(f.output, []byte("old"), 0o644))
		}
		require.Equal(t, first, bytes)
	}
	entries, err := os.ReadDir(filepath.Dir(f.output))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// TestApplyIgnoresUnusedFields: the fields of another self-attention layer may be
// present, and 0 where this layer does not have the size.
func TestApplyIgnoresUnusedFields(t *testing.T) {
	for _, text := range []string{
		`{"layer": "simple", "d_in": 0, "d_out": 2, "context_length": 1, "num_heads": 0, "qkv_bias": true, "dropout": 0.1}`,
		`{"layer": "simple", "d_in": 5, "d_out": 0}`,
		` { "dropout" : 0.0 , "l\u0061yer" : "simple" } ` + "\n",
	} {
		f := caseFiles(t, "simple")
		f.config = filepath.Join(t.TempDir(), "layer.json")
		require.NoError(t, os.WriteFile(f.config, []byte(text), 0o644))
		_, err := f.run(t)
		require.NoError(t, err)
		compareWithTorch(t, "simple", f, []string{"output", "weights", "grad.x"}, safetensors.F64, 1e-10)
	}
	f := caseFiles(t, "self_v1")
	f.config = filepath.Join(t.TempDir(), "layer.json")
	text := `{"layer": "self_v1", "d_in": 5, "d_out": 6, "context_length": 2, "num_heads": 4, "qkv_bias": true, "dropout": 0.9}`
	require.NoError(t, os.WriteFile(f.config, []byte(text), 0o644))
	_, err := f.run(t)
	require.NoError(t, err)
	compareWithTorch(t, "self_v1", f, golden.Load(t, "apply/self_v1/out.safetensors").Names(), safetensors.F64, 1e-10)
}

// TestApplyWithoutMask: the buffer may be missing, and its content and type do not
// matter.
func TestApplyWithoutMask(t *testing.T) {
	for _, mask := range []any{nil, []bool{true}, []float64{math.NaN()}, []int64{7}} {
		f := caseFiles(t, "multi_head_wrapper")
		file, err := safetensors.ReadFile(f.weights)
		require.NoError(t, err)
		file.Tensors = slices.DeleteFunc(file.Tensors, func(t safetensors.Tensor) bool { return t.Name == "heads.1.mask" })
		if mask != nil {
			file.Tensors = append(file.Tensors, safetensors.Tensor{Name: "heads.1.mask", Shape: []int{1, 1}, Data: mask})
		}
		f.weights = filepath.Join(t.TempDir(), "w.safetensors")
		require.NoError(t, safetensors.WriteFile(f.weights, file))
		_, err = f.run(t)
		require.NoError(t, err)
		compareWithTorch(t, "multi_head_wrapper", f, golden.Load(t, "apply/multi_head_wrapper/out.safetensors").Names(),
			safetensors.F64, 1e-10)
	}
}

// TestApplyNonFinite: NaN in a token reaches every row of the output that sees it.
func TestApplyNonFinite(t *testing.T) {
	f := withoutGradOutput(t, caseFiles(t, "self_v2"))
	file, err := safetensors.ReadFile(f.input)
	require.NoError(t, err)
	file.Tensors[0].Data.([]float64)[8] = math.NaN()
	require.NoError(t, safetensors.WriteFile(f.input, file))
	_, err = f.run(t)
	require.NoError(t, err)
	out, err := safetensors.ReadFile(f.output)
	require.NoError(t, err)
	for _, r := range out.Tensors {
		for i, v := range r.Data.([]float64) {
			require.True(t, math.IsNaN(v), "%s[%d] is %v", r.Name, i, v)
		}
	}
}

// TestApplyInterrupted: an interrupted command writes nothing.
func TestApplyInterrupted(t *testing.T) {
	f := caseFiles(t, "simple")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := runApply(ctx, "--config", f.config, "--input", f.input, "--output", f.output)
	require.EqualError(t, err, "apply: interrupted; nothing was written")
	require.NoFileExists(t, f.output)
}
