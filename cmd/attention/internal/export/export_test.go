package export

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/commandtest"

	"github.com/stretchr/testify/require"
)

func exported(args ...string) (string, error) {
	var out bytes.Buffer
	err := commandtest.Run(context.Background(), &out, io.Discard, New(), args...)
	return out.String(), err
}

func TestExportWrong(t *testing.T) {
	dir, full, run := commandtest.WriteGPT(t, commandtest.SmallGPT(t)), t.TempDir(), ""
	require.NoError(t, os.WriteFile(filepath.Join(full, "x"), nil, 0o644))
	run, _, _ = commandtest.LayerRun(t, "multi_head")
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
