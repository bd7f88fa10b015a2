package folder_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"attention/internal/folder"

	"github.com/stretchr/testify/require"
)

func TestWrite(t *testing.T) {
	path := t.TempDir()
	d := enter(t, path)
	require.NoError(t, d.Write("x", text("old")))
	fails := errors.New("fails")
	require.Equal(t, fails, d.Write("x", func(w io.Writer) error {
		must(w.Write(make([]byte, 1<<20)))
		requireFile(t, "old", filepath.Join(path, "x"))
		return fails
	}))
	requireFile(t, "old", filepath.Join(path, "x"))
	require.NoError(t, d.Write("x", text("new")))
	requireFile(t, "new", filepath.Join(path, "x"))
	require.Equal(t, []string{"x"}, namesIn(t, path), "no unfinished file remains")
}

// The error about a file that cannot be made names this file, not the temporary one.
func TestWriteNowhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gone")
	require.NoError(t, os.Mkdir(path, 0o755))
	d := enter(t, path)
	require.NoError(t, os.Remove(path))
	require.EqualError(t, d.Write("x", text("new")), "open "+filepath.Join(path, "x")+": no such file or directory")
}

// Bytes of a draft can be replaced later, whether or not they have reached the disk.
func TestDraft(t *testing.T) {
	d := enter(t, t.TempDir())
	require.NoError(t, d.Write("x", func(w io.Writer) error {
		draft, ok := w.(*folder.Draft)
		require.True(t, ok)
		require.NoError(t, text("beginning ")(draft))
		require.EqualValues(t, 10, draft.Size())
		require.NoError(t, draft.Amend(0, []byte("B")))
		require.NoError(t, text("end")(draft))
		require.EqualValues(t, 13, draft.Size())
		return draft.Amend(10, []byte("E"))
	}))
	requireFile(t, "Beginning End", d.Path("x"))
}

func TestWriteFile(t *testing.T) {
	path := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(path, "target"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(path, "target", "x"), []byte("old"), 0o644))
	if err := os.Symlink(filepath.Join("target", "x"), filepath.Join(path, "link")); err != nil {
		t.Skip(err)
	}
	require.NoError(t, folder.WriteFile(filepath.Join(path, "link"), text("new")))
	requireFile(t, "new", filepath.Join(path, "target", "x"))
	require.Equal(t, []string{"link", "target"}, namesIn(t, path))
	require.Equal(t, []string{"x"}, namesIn(t, filepath.Join(path, "target")))
	require.ErrorIs(t, folder.WriteFile(filepath.Join(path, "none", "x"), text("new")), os.ErrNotExist)
}

// TestWriteAll: no file has its name before all are complete, so a killed process or an error leaves none of them. The
// last file in the list gets its name last.
func TestWriteAll(t *testing.T) {
	path := t.TempDir()
	d := must(folder.Enter(path))
	defer d.Close()
	require.NoError(t, d.Write("b", text("old")))
	var during []string
	set := func(last func(io.Writer) error) error {
		return d.WriteAll(folder.File{Name: "a", Fill: text("1")}, folder.File{Name: "b", Fill: text("2")},
			folder.File{Name: filepath.Join("x", "y", "c"), Fill: last})
	}
	require.ErrorContains(t, set(func(io.Writer) error {
		during = namesIn(t, path)
		return errors.New("full")
	}), "full")
	require.Len(t, during, 4)
	for _, name := range during {
		require.True(t, name == "b" || folder.IsLeftover(name, func(string) bool { return true }), name)
	}
	require.Equal(t, []string{"b"}, namesIn(t, path))
	requireFile(t, "old", filepath.Join(path, "b"))
	require.NoError(t, set(text("3")))
	require.Equal(t, []string{"a", "b", "x"}, namesIn(t, path))
	requireFile(t, "2", filepath.Join(path, "b"))
	require.Equal(t, []string{"c"}, namesIn(t, filepath.Join(path, "x", "y")))
	requireFile(t, "3", filepath.Join(path, "x", "y", "c"))
}
