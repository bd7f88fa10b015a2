package folder_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/internal/folder"

	"github.com/stretchr/testify/require"
)

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(path, []byte("four"), 0o644))
	content, err := folder.ReadFile(path, 4)
	require.NoError(t, err)
	require.Equal(t, "four", string(content))
	_, err = folder.ReadFile(path, 3)
	require.EqualError(t, err, "open "+path+": got 4 bytes, want at most 3")
	_, err = folder.ReadFile(filepath.Dir(path), 3)
	require.EqualError(t, err, "open "+filepath.Dir(path)+": got a folder, want a regular file")
	_, err = folder.ReadFile(path+"2", 3)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "open "+path+"2: ")

	if os.Symlink(path, path+"link") == nil { // a user may name a link
		content, err = folder.ReadFile(path+"link", 4)
		require.NoError(t, err)
		require.Equal(t, "four", string(content))
	}
	content, err = folder.ReadAll(strings.NewReader("four"), 4)
	require.NoError(t, err)
	require.Equal(t, "four", string(content))
	_, err = folder.ReadAll(strings.NewReader("fours"), 4)
	require.EqualError(t, err, "got more than 4 bytes, want at most 4")
}

// A file without an end costs at most its limit.
func TestReadFileThatIsLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	require.NoError(t, os.Truncate(path, 3<<30))
	_, err := folder.ReadFile(path, folder.MaxConfig)
	require.EqualError(t, err, "open "+path+": got 3221225472 bytes, want at most 16777216")
}
