package settings

import (
	"os"
	"path/filepath"
	"testing"

	"attention/internal/folder"

	"github.com/stretchr/testify/require"
)

func TestReadText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	for _, row := range []struct{ reason, text, want string }{
		{reason: "a text", text: "café"},
		{reason: "no text", want: "got an empty file, want a text"},
		{reason: "another encoding", text: "caf\xe9", want: "got byte 0xe9 at offset 3, want UTF-8"},
	} {
		require.NoError(t, os.WriteFile(path, []byte(row.text), 0o644))
		text, err := ReadText(path)
		if row.want != "" {
			require.EqualError(t, err, row.want, row.reason)
			continue
		}
		require.NoError(t, err, row.reason)
		require.Equal(t, row.text, text)
	}
	require.NoError(t, os.Truncate(path, folder.MaxText+1))
	_, err := ReadText(path)
	require.EqualError(t, err, "got 67108865 bytes, want at most 67108864")
	_, err = ReadText(filepath.Dir(path))
	require.EqualError(t, err, "got a folder, want a regular file")
	_, err = ReadText(path + "2")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, ", want a text file")
}

// The standard input has the limit of a file.
func TestReadStandardInput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	stdin := os.Stdin
	defer func() { os.Stdin = stdin }()
	read := func() (string, error) {
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		os.Stdin = f
		return ReadText(StandardInput)
	}
	require.NoError(t, os.WriteFile(path, []byte("a text"), 0o644))
	text, err := read()
	require.NoError(t, err)
	require.Equal(t, "a text", text)
	require.NoError(t, os.Truncate(path, folder.MaxText+1))
	_, err = read()
	require.EqualError(t, err, "got more than 67108864 bytes, want at most 67108864")
}
