//go:build unix

package term

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A browser that leaves a page sends SIGPIPE to the program that serves the page. This must not end a run.
func TestUntilSignalIgnoresConnections(t *testing.T) {
	ctx, release := UntilSignal(context.Background(), syscall.SIGPIPE, syscall.SIGUSR2)
	defer release()
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGPIPE))
	time.Sleep(50 * time.Millisecond) // time in which the signal would arrive
	require.NoError(t, ctx.Err())
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGUSR2))
	<-ctx.Done()
}

// A pending SIGPIPE does not block a signal that ends the command.
func TestArrivals(t *testing.T) {
	counts, perhaps := arrivals(syscall.SIGPIPE, syscall.SIGUSR2)
	defer signal.Stop(counts)
	defer signal.Stop(perhaps)
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGPIPE))
	require.Eventually(t, func() bool { return len(perhaps) == 1 }, time.Minute, time.Millisecond)
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGUSR2))
	select {
	case s := <-counts:
		require.Equal(t, syscall.SIGUSR2, s)
	case <-time.After(time.Minute):
		require.FailNow(t, "the signal is lost")
	}
}

func TestLost(t *testing.T) {
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	defer writer.Close()
	file, err := os.Create(t.TempDir() + "/file")
	require.NoError(t, err)
	defer file.Close()
	require.False(t, lost(file, writer))
	require.NoError(t, reader.Close())
	require.True(t, lost(file, writer))
}
