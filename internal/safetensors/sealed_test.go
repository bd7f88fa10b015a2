package safetensors

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/internal/folder"

	"github.com/stretchr/testify/require"
)

func writeSealed(t *testing.T, path string, f *File) {
	t.Helper()
	require.NoError(t, folder.WriteFile(path, func(w io.Writer) error { return WriteSealed(w, f) }))
}

// Each byte of a sealed file is covered, whoever reads it: without the seal's own name it has
// no seal, which a reader that wants one notices.
func TestSealed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sealed")
	tensors := []Tensor{{Name: "w", Shape: []int{2}, Data: []float32{1, 2}, DType: F32}}
	metadata := map[string]string{"a": "b"}
	writeSealed(t, path, &File{Metadata: metadata, Tensors: tensors})
	require.Equal(t, map[string]string{"a": "b"}, metadata, "the caller's own")
	for _, read := range []func(string) (*File, error){ReadSealed, ReadFile} {
		f, err := read(path)
		require.NoError(t, err)
		require.Equal(t, &File{Metadata: metadata, Tensors: tensors}, f)
	}

	content, err := os.ReadFile(path)
	require.NoError(t, err)
	name := strings.Index(string(content), `"sha256":"`)
	for i := range content {
		for _, bit := range []byte{1, 32} {
			content[i] ^= bit
			require.NoError(t, os.WriteFile(path, content, 0o644))
			_, err = ReadSealed(path)
			require.ErrorIs(t, err, ErrDamaged, "byte %d", i)
			_, err = ReadFile(path)
			if i <= name || i > name+len("sha256") {
				require.Error(t, err, "byte %d", i)
			}
			content[i] ^= bit
		}
	}
	_, err = ReadSealed(path + "2")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NotErrorIs(t, err, ErrDamaged)
	require.EqualError(t, WriteSealed(io.Discard, &File{Metadata: map[string]string{"sha256": "of the data"}}),
		"safetensors: metadata sha256: got a value, want none: the file's checksum takes its place")
}

func TestReaderSeal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	tensors := []Tensor{{Name: "w", Shape: []int{2}, Data: []float32{1, 2}, DType: F32}}
	for _, row := range []struct {
		name     string
		metadata map[string]string
		sealed   bool
	}{
		{name: "no metadata"},
		{name: "another program's entry", metadata: map[string]string{"sha256": "of the data"}},
		{name: "sealed", sealed: true},
	} {
		if row.sealed {
			writeSealed(t, path, &File{Tensors: tensors})
		} else {
			require.NoError(t, WriteFile(path, &File{Metadata: row.metadata, Tensors: tensors}))
		}
		r, err := Open(path)
		require.NoError(t, err)
		require.Equal(t, row.sealed, r.Sealed(), row.name)
		require.Equal(t, row.metadata, r.Metadata(), row.name)
		require.NoError(t, r.CheckSeal())
		require.NoError(t, r.Close())

		content, err := os.ReadFile(path)
		require.NoError(t, err)
		content[len(content)-1] ^= 1
		require.NoError(t, os.WriteFile(path, content, 0o644))
		r, err = Open(path)
		require.NoError(t, err)
		if err := r.CheckSeal(); row.sealed {
			require.ErrorIs(t, err, ErrDamaged)
			require.ErrorContains(t, err, path+": damaged: checksum: got ")
		} else {
			require.NoError(t, err)
		}
		require.NoError(t, r.Close())
	}
}
