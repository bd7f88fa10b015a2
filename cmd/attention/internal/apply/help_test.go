package apply

import (
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/layers/apply"

	"github.com/stretchr/testify/require"
)

// TestApplyHelp: the help has the reference of the files, and every flag.
func TestApplyHelp(t *testing.T) {
	out, err := commandtest.Output(t.Context(), New(), "--help")
	require.NoError(t, err)
	require.Contains(t, out, apply.Reference)
	for _, flag := range []string{"--config file", "--weights file", "--input file", "--output file", "--dtype type"} {
		require.Contains(t, out, flag)
	}
	for line := range strings.Lines(help + "\n" + example) {
		require.LessOrEqual(t, len([]rune(strings.TrimRight(line, "\n"))), 80, line)
	}
}
