package folder_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"attention/internal/folder"

	"github.com/stretchr/testify/require"
)

func TestLock(t *testing.T) {
	path := t.TempDir()
	d := enter(t, path)
	lock := must(d.Lock())
	_, err := d.Lock()
	require.True(t, errors.Is(err, folder.ErrInUse))
	require.EqualError(t, err, fmt.Sprintf("%s: in use by another process (%d), want none",
		filepath.Join(path, "lock"), os.Getpid()))
	require.NoError(t, lock.Close())
	lock = must(d.Lock())
	require.NoError(t, lock.Close())
}

// Checking a lock does not change it and delays nobody.
func TestLocked(t *testing.T) {
	path := t.TempDir()
	require.False(t, folder.Locked(filepath.Join(path, "none")))
	require.False(t, folder.Locked(path))
	require.Empty(t, namesIn(t, path))
	d := enter(t, path)
	lock := must(d.Lock())
	before := must(os.Stat(filepath.Join(path, "lock")))
	require.True(t, folder.Locked(path))
	require.True(t, folder.Locked(path))
	require.Equal(t, before.ModTime(), must(os.Stat(filepath.Join(path, "lock"))).ModTime())
	requireFile(t, fmt.Sprintln(os.Getpid()), filepath.Join(path, "lock"))
	require.NoError(t, lock.Close())
	require.False(t, folder.Locked(path)) // as after a kill: the file is there

	stop := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				folder.Locked(path)
			}
		}
	})
	for range 200 {
		require.NoError(t, must(d.Lock()).Close())
	}
	close(stop)
	looking.Wait()
}
