package folder_test

import (
	"os"
	"path/filepath"
	"testing"

	"attention/internal/folder"
	"attention/internal/safetensors"

	"github.com/stretchr/testify/require"
)

// Package train checks each byte of a checkpoint.
func TestSealed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sealed")
	tensors := []safetensors.Tensor{{Name: "w", Shape: []int{2}, Data: []float32{1, 2}, DType: safetensors.F32}}
	file := &safetensors.File{Metadata: map[string]string{"a": "b"}, Tensors: tensors}
	require.NoError(t, folder.WriteSealed(path, file))
	f, err := folder.ReadSealed(path)
	require.NoError(t, err)
	require.Equal(t, tensors, f.Tensors)
	require.Equal(t, "b", f.Metadata["a"])
	require.Equal(t, []string{"sealed"}, namesIn(t, filepath.Dir(path)))

	content, err := os.ReadFile(path)
	require.NoError(t, err)
	content[len(content)-1] ^= 1
	require.NoError(t, os.WriteFile(path, content, 0o644))
	_, err = folder.ReadSealed(path)
	require.ErrorIs(t, err, folder.ErrDamaged)
	_, err = folder.ReadSealed(path + "2")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NotErrorIs(t, err, folder.ErrDamaged)
}
