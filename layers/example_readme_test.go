package layers_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The README's library example is made of lines of Example_training.
func TestReadmeExampleIsRun(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	example, err := os.ReadFile("example_training_test.go")
	require.NoError(t, err)
	_, code, ok := strings.Cut(string(readme), "```go\n")
	require.True(t, ok)
	code, _, ok = strings.Cut(code, "```\n")
	require.True(t, ok)
	lines := strings.Split(strings.TrimSpace(code), "\n")
	require.GreaterOrEqual(t, len(lines), 9)
	for _, line := range lines {
		require.Contains(t, string(example), strings.TrimSpace(line)+"\n")
	}
}
