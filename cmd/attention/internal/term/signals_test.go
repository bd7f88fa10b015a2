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
