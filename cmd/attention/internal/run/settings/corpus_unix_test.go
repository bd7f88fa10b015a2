//go:build unix

package settings

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A pipe, such as that of a shell's <(…), is read as standard input only.
func TestReadTextFromAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o644))
	_, err := ReadText(path)
	require.EqualError(t, err, "got a pipe, want a regular file, or --text - with the pipe as standard input")
	_, err = ReadFile("--prompt-file", path)
	require.EqualError(t, err, "open "+path+
		": got a pipe, want a regular file, or --prompt-file - with the pipe as standard input")
}
