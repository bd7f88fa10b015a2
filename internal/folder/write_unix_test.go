//go:build unix

package folder_test

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"attention/internal/folder"

	"github.com/stretchr/testify/require"
)

// The mode of new files and folders follows from the umask. An existing file keeps its mode, and the file that replaces
// it has this mode from the beginning.
func TestModes(t *testing.T) {
	for _, row := range []struct {
		umask                     int
		newFile, newFolder, other fs.FileMode
	}{
		{umask: 0o077, newFile: 0o600, newFolder: 0o700, other: 0o644},
		{umask: 0o022, newFile: 0o644, newFolder: 0o755, other: 0o600},
		{umask: 0o002, newFile: 0o664, newFolder: 0o775, other: 0o400},
	} {
		path := t.TempDir()
		before := syscall.Umask(row.umask)
		mode := func(want fs.FileMode, name ...string) {
			t.Helper()
			info := must(os.Stat(filepath.Join(append([]string{path}, name...)...)))
			require.Equal(t, want, info.Mode().Perm(), "umask %o: %v", row.umask, name)
		}
		d := must(folder.Make(filepath.Join(path, "run")))
		require.NoError(t, d.MakeFolder("checkpoints"))
		require.NoError(t, d.Write("model", text("x")))
		require.NoError(t, must(d.Lock()).Close())
		for _, name := range []string{"model", "lock"} {
			mode(row.newFile, "run", name)
		}
		mode(row.newFolder, "run")
		mode(row.newFolder, "run", "checkpoints")

		require.NoError(t, os.Chmod(filepath.Join(path, "run", "model"), row.other))
		require.NoError(t, d.Write("model", func(w io.Writer) error {
			for _, name := range namesIn(t, filepath.Join(path, "run")) {
				info := must(os.Stat(filepath.Join(path, "run", name)))
				if name != "lock" && !info.IsDir() {
					require.Zero(t, info.Mode().Perm()&^row.other, name)
				}
			}
			return nil
		}))
		mode(row.other, "run", "model")
		require.NoError(t, d.Close())
		syscall.Umask(before)
	}
}
