//go:build unix

package train

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"attention/cmd/attention/internal/run"

	"github.com/stretchr/testify/require"
)

// TestTrainSignalled: a run that is ended from outside saves, prints how to resume it and
// exits as a shell command does.
func TestTrainSignalled(t *testing.T) {
	for name, c := range map[string]struct {
		signals []syscall.Signal // none: the reader of its output goes away
		status  int
	}{
		"terminated":     {[]syscall.Signal{syscall.SIGTERM}, 143},
		"hung up, twice": {[]syscall.Signal{syscall.SIGHUP, syscall.SIGHUP}, 129},
		"nobody reads":   {nil, 141},
		"under nohup":    {[]syscall.Signal{syscall.SIGHUP, syscall.SIGINT}, 130},
	} {
		t.Run(name, func(t *testing.T) {
			if c.status == 130 {
				signal.Ignore(syscall.SIGHUP)
				defer signal.Reset(syscall.SIGHUP)
			} else if signal.Ignored(syscall.SIGHUP) {
				t.Skip("go test was started by nohup")
			}
			dir := t.TempDir()
			text, folder := filepath.Join(dir, "text.txt"), filepath.Join(dir, "run")
			require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
			reader, stdout, err := os.Pipe()
			require.NoError(t, err)
			defer reader.Close()
			go io.Copy(io.Discard, reader) // so that printing never blocks
			started := startTrainTo(t, stdout, append(tinyFlags(text, folder), "--steps", "1000000")...)
			require.NoError(t, stdout.Close())
			requireSteps(t, started, folder)
			if c.signals == nil {
				require.NoError(t, reader.Close())
			}
			for _, s := range c.signals {
				require.NoError(t, started.process.Signal(s))
				if c.status == 130 && s == syscall.SIGHUP {
					time.Sleep(100 * time.Millisecond) // long enough to end
					requireSteps(t, started, folder)
				}
			}
			<-started.done
			var exit *exec.ExitError
			require.ErrorAs(t, started.err, &exit)
			require.Equal(t, c.status, exit.ExitCode(), started.printed)
			require.Regexp(t, `^attention: train: stopped after \d+ of 1000000 steps; resume with: attention train --resume `,
				started.printed)
			require.Equal(t, 1, strings.Count(started.printed.String(), "\n"),
				"not which signal it was, nor that nothing could be printed")
			require.Equal(t, runFiles, namesIn(t, folder))
			require.NotEmpty(t, namesIn(t, filepath.Join(folder, run.CheckpointsFolder))[1:])
		})
	}
}

// requireSteps waits until a run has taken some more steps.
func requireSteps(t *testing.T, c *child, folder string) {
	path := filepath.Join(folder, run.MetricsFile)
	before := fileSize(path)
	require.True(t, c.until(func() bool { return fileSize(path) > before+4096 }), c.printed)
}
