package commandtest

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Printed is one entry of a file in testdata/chapter: a line "== head", then what PyTorch printed.
type Printed struct{ Head, Text string }

// ReadPrinted reads such a file. Lines that begin with # are remarks; empty lines belong to a text
// only if more of it follows.
func ReadPrinted(t testing.TB, path string) []Printed {
	t.Helper()
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	var entries []Printed
	for line := range strings.Lines(string(file)) {
		if head, ok := strings.CutPrefix(line, "== "); ok {
			entries = append(entries, Printed{Head: strings.TrimSuffix(head, "\n")})
		} else if len(entries) > 0 && !strings.HasPrefix(line, "#") {
			entries[len(entries)-1].Text += line
		}
	}
	for i := range entries {
		entries[i].Text = strings.TrimRight(entries[i].Text, "\n")
	}
	require.NotEmpty(t, entries, path)
	return entries
}
