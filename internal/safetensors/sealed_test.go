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

// openSealed reads a file that must have a seal.
func openSealed(path string) (*File, error) {
	r, err := OpenSealed(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := r.CheckSeal(); err != nil {
		return nil, err
	}
	return r.ReadAll()
}

// The seal covers each byte of a sealed file. A file without the seal's own name counts as unsealed; readers that
// require a seal refuse it.
func TestSealed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sealed")
	tensors := []Tensor{{Name: "w", Shape: []int{2}, Data: []float32{1, 2}, DType: F32}}
	metadata := map[string]string{"a": "b", "sha256": strings.Repeat("1", 64)}
	writeSealed(t, path, &File{Metadata: metadata, Tensors: tensors})
	require.Len(t, metadata, 2, "the caller's own")
	for _, read := range []func(string) (*File, error){openSealed, ReadFile} {
		require.Equal(t, &File{Metadata: metadata, Tensors: tensors}, must(read(path)))
	}

	content := must(os.ReadFile(path))
	name := strings.Index(string(content), `"attention.sha256":"`)
	for i := range content {
		for _, bit := range []byte{1, 32} {
			content[i] ^= bit
			require.NoError(t, os.WriteFile(path, content, 0o644))
			_, err := openSealed(path)
			require.ErrorIs(t, err, ErrDamaged, "byte %d", i)
			_, err = ReadFile(path)
			if i <= name || i > name+len("attention.sha256") {
				require.Error(t, err, "byte %d", i)
			}
			content[i] ^= bit
		}
	}
	_, err := OpenSealed(path + "2")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NotErrorIs(t, err, ErrDamaged)
	require.EqualError(t, WriteSealed(io.Discard, &File{Metadata: map[string]string{"attention.sha256": "of the data"}}),
		"safetensors: metadata attention.sha256: got a value, want none: the file's checksum takes its place")
}

// Only an entry under the seal's own key is a seal. Entries of other programs under similar keys are kept.
func TestSealsAreTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	digits := strings.Repeat("0123456789abcdef", 4)
	tensors := []Tensor{{Name: "w", Shape: []int{2}, Data: []float32{1, 2}, DType: F32}}
	for _, row := range []struct {
		reason   string
		metadata map[string]string
		sealed   bool
		rest     map[string]string
	}{
		{"no metadata", nil, false, nil},
		{"another program's digits", map[string]string{"sha256": digits}, false, map[string]string{"sha256": digits}},
		{"another program's format", map[string]string{"sha256": digits, "format": "pt"}, false,
			map[string]string{"sha256": digits, "format": "pt"}},
		{"another key in a checkpoint", map[string]string{"sha256": digits, "format": "attention checkpoint 3"}, false,
			map[string]string{"sha256": digits, "format": "attention checkpoint 3"}},
		{"a checkpoint",
			map[string]string{"attention.sha256": digits, "sha256": digits, "format": "attention checkpoint 3"}, true,
			map[string]string{"sha256": digits, "format": "attention checkpoint 3"}},
		{"a seal that was cut", map[string]string{"attention.sha256": "12"}, true, nil},
	} {
		require.NoError(t, WriteFile(path, &File{Metadata: row.metadata, Tensors: tensors}))
		r := must(Open(path))
		require.Equal(t, row.sealed, r.Sealed(), row.reason)
		require.Equal(t, row.rest, r.Metadata(), row.reason)
		require.Equal(t, row.sealed, r.CheckSeal() != nil, row.reason) // these digits are not a seal
		require.NoError(t, r.Close())
		r, err := OpenSealed(path)
		if !row.sealed {
			require.EqualError(t, err, path+": damaged: checksum: got none, want 64 digits", row.reason)
			continue
		}
		require.NoError(t, err, row.reason)
		require.ErrorIs(t, r.CheckSeal(), ErrDamaged, row.reason)
		require.NoError(t, r.Close())
	}
}
