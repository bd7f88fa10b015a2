// Package commandtest runs commands in tests as the program does, and checks the files they leave.
package commandtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"attention/cmd/attention/internal/flags"
	"attention/cmd/attention/internal/program"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// Root returns a program that has only the command.
func Root(cmd *cobra.Command) *cobra.Command {
	root := &cobra.Command{Use: "attention", SilenceErrors: true, SilenceUsage: true}
	root.SetFlagErrorFunc(flags.CommandError)
	root.AddCommand(cmd)
	return root
}

// Run runs a command with arguments. It prints to stdout and stderr.
func Run(ctx context.Context, stdout, stderr io.Writer, cmd *cobra.Command, args ...string) error {
	root := Root(cmd)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetArgs(append([]string{cmd.Name()}, args...))
	return root.ExecuteContext(ctx)
}

// Output runs a command with arguments and returns everything it prints.
func Output(ctx context.Context, cmd *cobra.Command, args ...string) (string, error) {
	var out bytes.Buffer
	err := Run(ctx, &out, &out, cmd, args...)
	return out.String(), err
}

// Full is a writer without room.
type Full struct{}

// Write returns an error.
func (Full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// InBadFolder changes to a new folder with a few bad files.
func InBadFolder(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"empty": "", "short": strings.Repeat("ab", 30), "latin1": "caf\xe9 au lait", "cut": "abc\xe2\x82", "full/file": "x",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
}

// Files returns the paths of everything in the working directory.
func Files(t *testing.T) (files []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		files = append(files, path)
		return err
	}))
	return files
}

// Await waits until a condition holds, or until the context ends.
func Await(ctx context.Context, holds func() bool) {
	for ctx.Err() == nil && !holds() {
		time.Sleep(time.Millisecond)
	}
}

// SetClock replaces the program's clock by one that advances by a second at every reading. It returns the time of the
// first reading.
func SetClock(t *testing.T) (begin time.Time) {
	begin = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	now, real := begin.Add(-time.Second), program.Now
	program.Now = func() time.Time {
		now = now.Add(time.Second)
		return now
	}
	t.Cleanup(func() { program.Now = real })
	return begin
}
