package mapped_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"attention/internal/mapped"

	"github.com/stretchr/testify/require"
)

// Released memory leaves the process and returns when it is read, including what was written to it.
func TestRelease(t *testing.T) {
	const size = 1 << 20
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte{7}, size), 0o600))
	var system syscall.Statfs_t
	require.NoError(t, syscall.Statfs(path, &system))
	if system.Type == 0x01021994 { // tmpfs
		t.Skip("a file in memory cannot leave it")
	}
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	memory, err := mapped.Map(f, size)
	require.NoError(t, err)
	require.Equal(t, size, bytes.Count(memory, []byte{7}))
	memory[size/2] = 8
	require.NoError(t, f.Sync())
	mapped.Release(memory[100:])
	mapped.Release(nil)
	require.Less(t, resident(t, path), size/2)
	require.Equal(t, size-1, bytes.Count(memory, []byte{7}))
	require.EqualValues(t, 8, memory[size/2])
}

// resident returns how much of a mapped file is in memory.
func resident(t *testing.T, path string) (n int) {
	maps, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(maps), path)
	require.True(t, found)
	_, err = fmt.Sscanf(rest[strings.Index(rest, "Rss:"):], "Rss: %d kB", &n)
	require.NoError(t, err)
	return n << 10
}
