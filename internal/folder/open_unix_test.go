//go:build unix

package folder_test

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"attention/internal/folder"

	"github.com/stretchr/testify/require"
)

// No function waits for the other end of a pipe, or reads a device.
func TestOnlyRegularFiles(t *testing.T) {
	path := t.TempDir()
	d := enter(t, path)
	for name, want := range map[string]string{"pipe": "a pipe", "socket": "a socket", "dir": "a folder"} {
		of := filepath.Join(path, name)
		switch name {
		case "pipe":
			require.NoError(t, syscall.Mkfifo(of, 0o644))
		case "socket":
			l := must(net.Listen("unix", of))
			defer l.Close()
		default:
			require.NoError(t, os.Mkdir(of, 0o755))
		}
		want = "open " + of + ": got " + want + ", want a regular file"
		_, err := folder.Open(of)
		require.EqualError(t, err, want)
		for _, flag := range []int{os.O_RDONLY, os.O_WRONLY | os.O_CREATE, os.O_RDWR} {
			_, err = d.Open(name, flag)
			require.EqualError(t, err, want)
		}
		require.EqualError(t, d.Write(name, text("x")), want)
	}
	_, err := folder.Open("/dev/zero")
	require.EqualError(t, err, "open /dev/zero: got a device, want a regular file")
	_, err = folder.Enter(filepath.Join(path, "pipe"))
	require.EqualError(t, err, "open "+filepath.Join(path, "pipe")+": got a pipe, want a folder")
}

// A folder that is moved stays open, and InPlace reports it.
func TestInPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	require.NoError(t, os.Mkdir(path, 0o755))
	d := enter(t, path)
	require.True(t, d.InPlace())
	require.NoError(t, os.Rename(path, path+"2"))
	require.False(t, d.InPlace())
	require.NoError(t, os.Mkdir(path, 0o755))
	require.False(t, d.InPlace(), "another folder")
	require.NoError(t, d.Write("x", text("a")))
	require.FileExists(t, filepath.Join(path+"2", "x"))
}
