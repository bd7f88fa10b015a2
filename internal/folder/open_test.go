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
	content := must(folder.ReadFile(path, 4))
	require.Equal(t, "four", string(content))
	_, err := folder.ReadFile(path, 3)
	require.EqualError(t, err, "open "+path+": got 4 bytes, want at most 3")
	_, err = folder.ReadFile(filepath.Dir(path), 3)
	require.EqualError(t, err, "open "+filepath.Dir(path)+": got a folder, want a regular file")
	_, err = folder.ReadFile(path+"2", 3)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "open "+path+"2: ")

	if os.Symlink(path, path+"link") == nil { // a user may name a link
		content = must(folder.ReadFile(path+"link", 4))
		require.Equal(t, "four", string(content))
	}
	content = must(folder.ReadAll(strings.NewReader("four"), 4))
	require.Equal(t, "four", string(content))
	_, err = folder.ReadAll(strings.NewReader("fours"), 4)
	require.EqualError(t, err, "got more than 4 bytes, want at most 4")
}

// Reading a file without an end stops at the limit.
func TestReadFileThatIsLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	require.NoError(t, os.Truncate(path, 3<<30))
	_, err := folder.ReadFile(path, folder.MaxConfig)
	require.EqualError(t, err, "open "+path+": got 3221225472 bytes, want at most 16777216")
}

// A file that is written in place must not have another name, which may be outside the folder. A file that is read or
// replaced may have one, and the file under that name does not change.
func TestHardLinks(t *testing.T) {
	path := t.TempDir()
	d := enter(t, path)
	outside := filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.WriteFile(outside, []byte("kept"), 0o644))
	for _, name := range []string{"lock", "metrics"} {
		of := filepath.Join(path, name)
		require.NoError(t, os.Link(outside, of))
		for _, flag := range []int{os.O_WRONLY | os.O_CREATE, os.O_RDWR, os.O_WRONLY | os.O_APPEND} {
			_, err := d.Open(name, flag)
			require.EqualError(t, err,
				"open "+of+": got a file of "+map[string]string{"lock": "2", "metrics": "3"}[name]+
					" names (hard links), want one of its own, such as cp makes")
		}
		require.NoError(t, must(d.Open(name, os.O_RDONLY)).Close())
	}
	_, err := d.Lock()
	require.ErrorContains(t, err, "names (hard links)")
	require.NoError(t, d.Write("metrics", text("new")))
	require.Equal(t, "kept", string(must(os.ReadFile(outside))))
	require.NoError(t, d.Remove("lock"))
	require.NoError(t, must(d.Open("metrics", os.O_RDWR)).Close())
}

func TestSum(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	require.NoError(t, os.WriteFile(a, []byte("ab"), 0o644))
	require.NoError(t, os.WriteFile(b, []byte("c"), 0o644))
	size, sum, err := folder.Sum(a, b)
	require.NoError(t, err)
	require.Equal(t, 3, size)
	require.Equal(t, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", sum, "of abc")
	_, _, err = folder.Sum(a, filepath.Dir(b))
	require.ErrorContains(t, err, "want a regular file")
}
