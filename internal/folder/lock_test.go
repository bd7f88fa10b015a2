package folder_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"attention/internal/folder"

	"github.com/stretchr/testify/require"
)

func TestLock(t *testing.T) {
	path := t.TempDir()
	d := enter(t, path)
	lock, err := d.Lock()
	require.NoError(t, err)
	_, err = d.Lock()
	require.True(t, errors.Is(err, folder.ErrInUse))
	require.EqualError(t, err, fmt.Sprintf("%s: in use by another process (%d), want none",
		filepath.Join(path, "lock"), os.Getpid()))
	require.NoError(t, lock.Close())
	lock, err = d.Lock()
	require.NoError(t, err)
	require.NoError(t, lock.Close())
}
