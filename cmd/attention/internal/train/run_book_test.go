package train

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/run/settings"
	"attention/internal/golden"
	"attention/internal/testenv"
	"attention/train/checkpoint"

	"github.com/stretchr/testify/require"
)

// TestTrainBookAsPyTorch: the recipe of preset book begins with the weights that PyTorch draws
// after manual_seed(123), and has the losses and weights of testdata/torch/book_train.py.
func TestTrainBookAsPyTorch(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out two epochs of preset book-small")
	}
	file := golden.Load(t, "torch/book_train.safetensors")
	all, err := os.ReadFile(filepath.Join("..", "run", "settings", "text", "attention.txt"))
	require.NoError(t, err)
	dir := t.TempDir()
	path := filepath.Join(dir, "text")
	require.NoError(t, os.WriteFile(path, all[:4400], 0o644))
	for _, row := range []struct {
		dtype, reason string
		losses        float64
		weights       float64
	}{
		{dtype: "float32", losses: 5e-7, weights: 2e-5, reason: "Adam's first steps have the gradients' signs: a " +
			"gradient near 0 moves a weight by up to 4e-4 either way"},
		{dtype: "float64", losses: 1e-13, weights: 1e-12, reason: "rounding"},
	} {
		if row.dtype == "float32" && !testenv.All { // float64 is compared more closely
			continue
		}
		folder := filepath.Join(dir, row.dtype)
		flags := strings.Fields("--preset book-small --tokenizer bytes --dropout 0 --order sequential --epochs 2 " +
			"--sample 0 --eval-every 0")
		require.NoError(t, trainTo(t.Context(), new(bytes.Buffer),
			append(flags, "--dtype", row.dtype, "--text", path, "--out", folder)...))
		var losses []float64
		for _, m := range metricLines(t, folder) {
			if loss, ok := m["loss"]; ok {
				losses = append(losses, loss)
			}
		}
		golden.Close(t, row.dtype+" losses", file.Float64(row.dtype+".loss"), losses, row.losses, 0)
		got, _, err := checkpoint.ReadTensors(filepath.Join(folder, settings.ModelFile))
		require.NoError(t, err)
		seen := 0
		for _, key := range file.Names() {
			if name, ok := strings.CutPrefix(key, row.dtype+".after."); ok {
				want, have := floatsOf(file, key, row.dtype), golden.Floats(t, got[name])
				golden.Close(t, key+" ("+row.reason+")", want, have[:len(want)], row.weights, 0)
				seen++
			}
		}
		require.Equal(t, 7, seen)
	}
}

// floatsOf returns a golden tensor of a type as float64.
func floatsOf(file *golden.File, key, dtype string) (all []float64) {
	if dtype == "float64" {
		return file.Float64(key)
	}
	for _, x := range file.Float32(key) {
		all = append(all, float64(x))
	}
	return all
}
