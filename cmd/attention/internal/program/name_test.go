package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNameOf(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	temporary := filepath.Join(t.TempDir(), "go-build12", "b001", "exe", "attention")
	for _, row := range []struct {
		reason, onPath, typed, want string
	}{
		{reason: "installed", onPath: self, typed: "attention", want: "attention"},
		{reason: "installed, but typed as a path", onPath: self, typed: "/home/me/go/bin/attention", want: "attention"},
		{reason: "by go run", typed: temporary, want: "go run ./cmd/attention"},
		{reason: "by go run, again", typed: "/cache/96/" + strings.Repeat("9a", 32) + "-d/attention",
			want: "go run ./cmd/attention"},
		{reason: "by go run, beside another program of that name", onPath: os.DevNull, typed: temporary,
			want: "go run ./cmd/attention"},
		{reason: "built here", typed: "./attention", want: "./attention"},
		{reason: "a path with a blank", typed: "./my program", want: "'./my program'"},
		{reason: "a test", typed: "/tmp/go-build12/b001/program.test", want: "/tmp/go-build12/b001/program.test"},
	} {
		bin := t.TempDir()
		if row.onPath != "" {
			require.NoError(t, os.Symlink(row.onPath, filepath.Join(bin, "attention")))
		}
		t.Setenv("PATH", bin)
		require.Equal(t, row.want, NameOf(row.typed), row.reason)
	}
}

func TestShell(t *testing.T) {
	require.Equal(t, "train --resume runs/1", Shell("train", "--resume", "runs/1"))
	require.Equal(t, `--resume 'it'\''s a run' ''`, Shell("--resume", "it's a run", ""))
	require.Equal(t, "attention train", Command("train"))
}
