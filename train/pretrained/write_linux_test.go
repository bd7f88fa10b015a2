package pretrained_test

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"attention/layers"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// If the disk is full after the weights, the folder is empty again, so that writing can be repeated. Here a limit on
// file sizes simulates the full disk. The limit leaves no space for the files of go test, so the test runs in a process
// of its own.
func TestWriteOnAFullDisk(t *testing.T) {
	const alone = "ATTENTION_TEST_ALONE"
	if os.Getenv(alone) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), alone+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return
	}
	p := layers.NewParams(tensor.Float32, 1)
	m, err := layers.NewGPT(p.Scope(""), layers.GPTConfig{VocabSize: 5, ContextLength: 2, EmbedDim: 4, NumHeads: 1,
		NumLayers: 1})
	require.NoError(t, err)
	g := &pretrained.GPT{Model: m, Params: p, EndOfText: -1}
	dir := filepath.Join(t.TempDir(), "model")

	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 5000, Max: before.Max}))
	_, err = g.Write(dir, pretrained.WriteConfig{Format: pretrained.Torch})
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before))

	require.ErrorIs(t, err, syscall.EFBIG)
	require.ErrorContains(t, err, "model.py")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
	_, err = g.Write(dir, pretrained.WriteConfig{Format: pretrained.Torch})
	require.NoError(t, err)
}
