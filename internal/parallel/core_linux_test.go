package parallel

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A thread that leaves its core continues on another core, and may still use all cores that it could use before.
func TestLeaveCore(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &before))
	moved := false
	for range 100 { // the system may move the thread back at once
		var was, is core
		was.here()
		require.True(t, before.IsSet(int(was.number)))
		was.leave()
		is.here()
		moved = moved || is != was
		require.NoError(t, unix.SchedGetaffinity(0, &after))
		require.Equal(t, before, after)
	}
	require.Equal(t, before.Count() > 1, moved)
}

// A thread that may use only one core stays there.
func TestLeaveTheOnlyCore(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, allowed, after unix.CPUSet
	var c core
	c.here()
	allowed.Set(int(c.number))
	require.NoError(t, unix.SchedGetaffinity(0, &all))
	require.NoError(t, unix.SchedSetaffinity(0, &allowed))
	c.leave()
	require.NoError(t, unix.SchedGetaffinity(0, &after))
	require.NoError(t, unix.SchedSetaffinity(0, &all))
	require.Equal(t, allowed, after)
}
