package pretrained_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"attention/internal/golden"
	"attention/internal/safetensors"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// PyTorch reads our folders: a GPT-2 in plain PyTorch and model.py of the format torch
// compute our logits, and ReadGPT reads what model.py saves. The test is skipped without a
// Python that has PyTorch; TestWrittenForHuggingFace and TestTorchFolders compare the files
// with stored ones.
func TestPyTorchReadsFolders(t *testing.T) {
	if testing.Short() {
		t.Skip("loading PyTorch takes seconds")
	}
	var models []*pretrained.GPT
	var dirs []string
	for name, config := range cases {
		config = config.with(fields{"embd_pdrop": 0.5}) // must have no effect here
		g, err := pretrained.ReadGPT(write(t, config, caseTensors(t, "torch/gpt.safetensors", name)))
		require.NoError(t, err)
		for _, format := range pretrained.Formats() {
			if name == "gpt_grouped" && format == pretrained.HuggingFace {
				continue
			}
			dir := t.TempDir()
			_, err := g.Write(dir, format)
			require.NoError(t, err)
			models, dirs = append(models, g), append(dirs, dir)
		}
	}
	out := filepath.Join(t.TempDir(), "out.safetensors")
	python(t, append([]string{out, "7,0,12,12,3"}, dirs...)...)

	logits, err := safetensors.ReadFile(out)
	require.NoError(t, err)
	require.Len(t, logits.Tensors, len(models))
	for i, g := range models {
		want, ok := logits.Get(strconv.Itoa(i))
		require.True(t, ok)
		require.Equal(t, []int{5, 13}, want.Shape)
		golden.Close(t, dirs[i], want.Data.([]float64), run(t, g, []int64{7, 0, 12, 12, 3}, 5), 1e-12, 1e-12)
		if again, err := pretrained.ReadGPT(filepath.Join(dirs[i], "again")); err == nil {
			same(t, g.Params, again.Params)
			require.Equal(t, g.Model.Config(), again.Model.Config())
		} else {
			require.NotContains(t, filesIn(t, dirs[i]), "model.py")
		}
	}
}

// python runs testdata/torch/gpt_read.py, or skips the test.
func python(t *testing.T, args ...string) {
	script, err := golden.Path("torch", "gpt_read.py")
	require.NoError(t, err)
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		cmd := exec.Command(name, append([]string{"-B", script}, args...)...)
		cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1")
		message, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() == 77) {
			continue // no Python, or none with PyTorch
		}
		require.NoError(t, err, "%s", message)
		return
	}
	t.Skip("no Python with PyTorch")
}
