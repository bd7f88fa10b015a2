package term

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Only a command that stopped cleanly has the exit code of an interrupt.
func TestExitCode(t *testing.T) {
	require.Equal(t, 130, ExitCode(fmt.Errorf("%w", Interrupted(errors.New("stopped")))))
	require.Equal(t, 1, ExitCode(context.Canceled))
	require.Equal(t, 1, ExitCode(signalled{context.Canceled, os.Interrupt}))
}

func TestStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	failed := errors.New("failed")
	require.Equal(t, failed, Stopped(ctx, failed))
	stop()
	require.Equal(t, failed, Stopped(ctx, failed), "it failed before")
	require.NoError(t, Stopped(ctx, nil), "it was done before")
	err := Stopped(ctx, fmt.Errorf("machine: %w", context.Canceled))
	require.EqualError(t, err, "interrupted")
	require.Equal(t, 130, ExitCode(err))
}
