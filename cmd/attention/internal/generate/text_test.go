package generate

import (
	"bytes"
	"testing"

	"attention/cmd/attention/internal/term"

	"github.com/stretchr/testify/require"
)

// A model's text is escaped on a screen, and unchanged for another program.
func TestGenerateEscapesOnATerminal(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, (&continuation{out: term.NewScreen(&out)}).print("a\x1b[2J\n"))
	require.NoError(t, (&continuation{out: term.Raw(term.NewScreen(&out))}).print("\x1b"))
	require.Equal(t, "a\\x1b[2J\n\x1b", out.String())
}
