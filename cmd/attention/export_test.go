package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/run"
	"attention/layers"
	"attention/layers/generate"

	"github.com/stretchr/testify/require"
)

func exported(args ...string) (string, error) {
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs(append([]string{"export"}, args...))
	root.SetOut(&out)
	err := root.Execute()
	return out.String(), err
}

// A model goes through both formats and comes back, bit for bit.
func TestExport(t *testing.T) {
	g := newSmallGPT(t)
	want := continued(t, g, "abc", 20, generate.Config{Temperature: 0.8, Seed: 1})
	from := written(t, g)
	for _, step := range []struct{ format, files string }{
		{"huggingface", "config.json, model.safetensors"},
		{"torch", "config.json, model.safetensors, model.py"},
		{"huggingface", "config.json, model.safetensors"},
	} {
		to := filepath.Join(t.TempDir(), "to")
		said, err := exported("--model", from, "--format", step.format, "--out", to)
		require.NoError(t, err)
		require.Equal(t, "In "+to+": "+step.files+"\n", said)
		require.Equal(t, want, mustGenerate(t, "--model", to, "--prompt", "abc", "--tokens", "20"))
		from = to
	}
	again, err := run.ModelFolders().ReadGPT(from)
	require.NoError(t, err)
	for name, value := range g.Params.All() {
		got, ok := again.Params.Get(name)
		require.True(t, ok)
		require.Equal(t, value.Data(), got.Data(), name)
	}
}

func TestExportWrong(t *testing.T) {
	dir, full, run := written(t, newSmallGPT(t)), t.TempDir(), ""
	require.NoError(t, os.WriteFile(filepath.Join(full, "x"), nil, 0o644))
	run, _, _ = layerRun(t, layers.MultiHead)
	for want, args := range map[string][]string{
		"--model: missing, want the folder of a model":                                                            {"--format", "torch", "--out", "x"},
		`--format: got "", want huggingface or torch`:                                                             {"--model", dir, "--out", "x"},
		`--format: got "onnx", want huggingface or torch`:                                                         {"--model", dir, "--format", "onnx", "--out", "x"},
		"--model: " + full + "/x: got a file, want the folder of a model, with config.json and model.safetensors": {"--model", full + "/x", "--format", "torch", "--out", "y"},
		"--out: missing, want a folder to write":                                                                  {"--model", dir, "--format", "torch"},
		"--model: pretrained: " + run + ": config.json: model: the model is no GPT":                               {"--model", run, "--format", "torch", "--out", filepath.Join(full, "y")},
		"--out: pretrained: " + full + ": got a folder that is not empty, want a new or empty one":                {"--model", dir, "--format", "torch", "--out", full},
	} {
		_, err := exported(args...)
		require.EqualError(t, err, want)
	}
	_, err := exported("--form", "torch")
	require.ErrorContains(t, err, "export: unknown flag: --form; see attention export --help")
	files, err := os.ReadDir(full)
	require.NoError(t, err)
	require.Len(t, files, 1)
}
