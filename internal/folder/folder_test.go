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

// enter opens a folder until the test ends.
func enter(t *testing.T, path string) *folder.Dir {
	t.Helper()
	d := must(folder.Enter(path))
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// must checks the error of a call that a test needs but does not test.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// namesIn returns the names of a folder's files, ascending.
func namesIn(t *testing.T, path string) []string {
	t.Helper()
	return must(folder.Names(path))
}

// text returns a function that writes a text.
func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func requireFile(t *testing.T, want, path string) {
	t.Helper()
	require.Equal(t, want, string(must(os.ReadFile(path))), path)
}

func TestEnterAndMake(t *testing.T) {
	path := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(path, "file"), nil, 0o644))
	_, err := folder.Enter(filepath.Join(path, "file"))
	require.EqualError(t, err, "open "+filepath.Join(path, "file")+": got a regular file, want a folder")
	_, err = folder.Enter(filepath.Join(path, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = folder.Make(filepath.Join(path, "file", "sub"))
	require.Error(t, err)

	for range 2 { // the second time it is there
		d := must(folder.Make(filepath.Join(path, "a", "b")))
		require.NoError(t, d.MakeFolder("c"))
		require.NoError(t, d.Close())
	}
	require.DirExists(t, filepath.Join(path, "a", "b", "c"))
	d := enter(t, path)
	require.EqualError(t, d.MakeFolder("file"), "open "+filepath.Join(path, "file")+": got a regular file, want a folder")
	require.Equal(t, []string{"a", "file"}, must(d.Names()))

	for _, want := range []string{"1", "3"} {
		require.Equal(t, filepath.Join(path, "runs", want), must(folder.MakeNext(filepath.Join(path, "runs"))))
		require.NoError(t, os.MkdirAll(filepath.Join(path, "runs", "2"), 0o755))
	}
}

// MakeEmpty opens a folder without files, whether or not it existed before.
func TestMakeEmpty(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll(filepath.Join("runs", "1"), 0o755))
	for path, want := range map[string]string{"": filepath.Join("runs", "2", "x"), "new": filepath.Join("new", "x"),
		filepath.Join("runs", "1"): filepath.Join("runs", "1", "x")} {
		d := must(folder.MakeEmpty(path, "runs"))
		require.Equal(t, want, d.Path("x"))
		require.NoError(t, d.Close())
	}
	_, err := folder.MakeEmpty("runs", "runs")
	require.EqualError(t, err, "runs: got a folder that is not empty, want a new or empty one")
}

// Links in a folder are not followed, whether they end inside it or outside.
func TestLinksAreRefused(t *testing.T) {
	path, outside := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "x"), []byte("theirs"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(path, "inside"), []byte("theirs"), 0o600))
	for link, target := range map[string]string{
		"metrics.jsonl": filepath.Join(outside, "x"), "model": "inside", "lock": filepath.Join(outside, "x"),
		"dangling": filepath.Join(outside, "new"), "checkpoints": outside,
	} {
		if err := os.Symlink(target, filepath.Join(path, link)); err != nil {
			t.Skip(err) // Windows requires a permission
		}
	}
	d := enter(t, path)
	refused := func(name, want string, err error) {
		t.Helper()
		require.EqualError(t, err, "open "+filepath.Join(path, name)+": got a symbolic link, want "+want)
	}
	for _, name := range []string{"metrics.jsonl", "model", "dangling"} {
		for _, flag := range []int{os.O_RDONLY, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_CREATE | os.O_EXCL} {
			_, err := d.Open(name, flag)
			refused(name, "a regular file", err)
		}
		refused(name, "a regular file", d.Write(name, text("ours")))
		refused(name, "a regular file", d.Check(name))
	}
	_, err := d.Lock()
	refused("lock", "a regular file", err)
	refused("checkpoints", "a folder", d.MakeFolder("checkpoints"))
	requireFile(t, "theirs", filepath.Join(outside, "x"))
	requireFile(t, "theirs", filepath.Join(path, "inside"))
	require.Equal(t, []string{"x"}, namesIn(t, outside))
	_, err = d.Open(filepath.Join("..", filepath.Base(outside), "x"), os.O_RDONLY)
	require.ErrorContains(t, err, "escapes")
}

func TestHolds(t *testing.T) {
	path := t.TempDir()
	d := enter(t, path)
	f := must(d.Open("metrics.jsonl", os.O_WRONLY|os.O_CREATE|os.O_EXCL))
	defer f.Close()
	require.True(t, d.Holds("metrics.jsonl", f))
	require.NoError(t, d.Write("metrics.jsonl", text("another")))
	require.False(t, d.Holds("metrics.jsonl", f))
	require.NoError(t, d.Remove("metrics.jsonl"))
	require.False(t, d.Holds("metrics.jsonl", f))
	err := d.Remove("metrics.jsonl")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, filepath.Join(path, "metrics.jsonl"))
}

// TestRemoveIncomplete: only files that a killed process was writing are removed.
func TestRemoveIncomplete(t *testing.T) {
	path := t.TempDir()
	d := enter(t, path)
	ours := func(name string) bool { return name == "model" || name == "config.json" }
	left := errors.New("killed")
	require.ErrorIs(t, d.Write("model", func(io.Writer) error {
		for _, name := range namesIn(t, path) { // as a kill leaves it
			require.True(t, folder.IsLeftover(name, ours), name)
			require.NoError(t, os.Link(filepath.Join(path, name), filepath.Join(path, name+"1")))
		}
		return left
	}), left)
	require.Len(t, namesIn(t, path), 1)
	lock := must(d.Lock())
	defer lock.Close()
	require.True(t, folder.IsLeftover("lock", ours))
	keep := []string{".tmp-config.json", ".tmp-model12x", ".tmp-notes", ".tmp-notes12", "config.tmp-", "model12"}
	for _, name := range keep {
		require.NoError(t, os.WriteFile(filepath.Join(path, name), nil, 0o644))
		require.False(t, folder.IsLeftover(name, ours), name)
	}
	require.NoError(t, os.WriteFile(filepath.Join(path, ".tmp-config.json123"), nil, 0o644))
	require.NoError(t, os.Mkdir(filepath.Join(path, ".tmp-model77"), 0o755))
	require.NoError(t, d.RemoveIncomplete(ours))
	require.ElementsMatch(t, append(keep, ".tmp-model77", "lock"), namesIn(t, path))
}
