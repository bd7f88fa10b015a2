package safetensors

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// If the disk is full in the middle of the data (here because of a limit on file sizes), the old file is unchanged and
// the incomplete one is removed.
func TestWriteFileOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	old := &File{Tensors: []Tensor{{"w", []int{1}, []int8{1}, I8}}}
	require.NoError(t, WriteFile(path, old))

	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 5 * chunk / 2, Max: before.Max}))
	err := WriteFile(path, &File{Tensors: []Tensor{{Name: "big", Shape: []int{4 * chunk}, Data: make([]int8, 4*chunk)}}})
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before))

	require.ErrorIs(t, err, syscall.EFBIG)
	assert.ErrorContains(t, err, path+`: tensor "big": `)
	assert.Equal(t, old, must(ReadFile(path)))
	assert.Len(t, must(os.ReadDir(dir)), 1)
}
