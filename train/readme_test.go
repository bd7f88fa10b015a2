package train_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// block returns the contents of the first block of a language in Markdown.
func block(t *testing.T, markdown, language string) string {
	_, rest, ok := strings.Cut(markdown, "```"+language+"\n")
	require.True(t, ok, "no block of %s", language)
	code, _, ok := strings.Cut(rest, "```\n")
	require.True(t, ok, "no end of the block of %s", language)
	return code
}

// TestReadmeProgram builds and runs the first Go block of the README as it stands.
func TestReadmeProgram(t *testing.T) {
	readme := must(os.ReadFile("../README.md"))
	path := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(path, []byte(block(t, string(readme), "go")), 0o644))
	require.Empty(t, must(exec.Command("gofmt", "-l", path).Output()), "not in gofmt's form")
	printed, err := exec.Command("go", "run", path).CombinedOutput()
	require.NoError(t, err, "%s", printed)
	require.Equal(t, block(t, string(readme), "text"), string(printed))
}
