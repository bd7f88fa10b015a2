package term

import (
	"fmt"
	"testing"

	"attention/cmd/attention/internal/commandtest"

	"github.com/stretchr/testify/require"
)

func TestOutputKeepsTheFirstError(t *testing.T) {
	out := NewOutput(commandtest.Full{})
	fmt.Fprint(out, "a")
	first := out.Err()
	fmt.Fprint(out, "b")
	require.EqualError(t, first, "printing: no space left")
	require.Same(t, first, out.Err())
}
