package run

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTextTooLong: a device is not read to its end.
func TestTextTooLong(t *testing.T) {
	require.EqualError(t, checkText(make([]byte, maxText+1)), "got more than 67108864 bytes, want a shorter text")
}
