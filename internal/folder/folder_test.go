package folder_test

import (
	"os"
	"path/filepath"
	"testing"

	"attention/internal/folder"

	"github.com/moby/sys/atomicwriter"
	"github.com/stretchr/testify/require"
)

// namesIn returns the names of a folder's files, ascending.
func namesIn(t *testing.T, path string) (names []string) {
	entries, err := os.ReadDir(path)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestRemoveIncomplete lets a file be written, which nobody finishes.
func TestRemoveIncomplete(t *testing.T) {
	path := t.TempDir()
	w, err := atomicwriter.New(filepath.Join(path, "model"), 0o644)
	require.NoError(t, err)
	_, err = w.Write([]byte("half"))
	require.NoError(t, err)
	lock, err := folder.Lock(path)
	require.NoError(t, err)
	defer lock.Close()
	for _, name := range namesIn(t, path) {
		require.True(t, folder.IsLeftover(name), name)
	}
	require.NoError(t, os.WriteFile(filepath.Join(path, "config.tmp-"), nil, 0o644))
	require.Len(t, namesIn(t, path), 3)
	require.NoError(t, folder.RemoveIncomplete(path))
	require.Equal(t, []string{"config.tmp-", "lock"}, namesIn(t, path))
	require.False(t, folder.IsLeftover("config.tmp-"))
	require.Error(t, w.Close(), "its file is gone")
	require.ErrorIs(t, folder.RemoveIncomplete(filepath.Join(path, "none")), os.ErrNotExist)
}
