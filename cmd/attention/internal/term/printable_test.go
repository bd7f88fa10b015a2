package term

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPrintable(t *testing.T) {
	require.Equal(t, "a\n\tb\\r\\x1b[31m\\x00 é😀'\n", Printable("a\r\n\tb\r\x1b[31m\x00 é😀'\n"))
}
