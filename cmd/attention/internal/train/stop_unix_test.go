//go:build unix

package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"
	"attention/train/checkpoint"
	"attention/train/metrics"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// childVariable is set in the environment of a child process. A child never starts another one.
const childVariable = "ATTENTION_TEST_CHILD"

// TestMain makes the test binary stand in for the command in a child.
func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	os.Exit(term.Main(commandtest.Root(New())))
}

// child is attention train in a process of its own.
type child struct {
	process *os.Process
	printed *bytes.Buffer // stdout and stderr; read them when the process is done
	done    chan struct{}
	err     error // closed when the process is done
}

func startTrain(t *testing.T, args ...string) *child { return startTrainTo(t, nil, args...) }

// startTrainTo starts a child that prints to a file, or to memory if the file is nil.
func startTrainTo(t *testing.T, stdout *os.File, args ...string) *child {
	require.Empty(t, os.Getenv(childVariable), "a child was asked to start children of its own")
	self, err := os.Executable()
	require.NoError(t, err)
	c := &child{printed: new(bytes.Buffer), done: make(chan struct{})}
	cmd := exec.Command(self, append([]string{"train"}, args...)...)
	cmd.Env = append(os.Environ(), childVariable+"=1")
	cmd.Stdout, cmd.Stderr = c.printed, c.printed
	if stdout != nil {
		cmd.Stdout = stdout
	}
	require.NoError(t, cmd.Start())
	c.process = cmd.Process
	go func() {
		c.err = cmd.Wait()
		close(c.done)
	}()
	t.Cleanup(c.kill)
	return c
}

// kill ends the process at once unless it has already ended.
func (c *child) kill() {
	_ = c.process.Kill()
	<-c.done
}

// until waits until a condition holds or the process has ended, and reports whether the condition held.
func (c *child) until(so func() bool) bool {
	for !so() {
		select {
		case <-c.done:
			return false
		case <-time.After(200 * time.Microsecond):
		}
	}
	return true
}

// TestTrainInterrupted: Ctrl-C ends a run with exit code 130, and the run prints the command that resumes it. Until the
// run has ended, no other process can resume it.
func TestTrainInterrupted(t *testing.T) {
	dir := t.TempDir()
	text, calm := filepath.Join(dir, "text.txt"), filepath.Join(dir, "calm/run") // pictures have the name of their run
	folder := filepath.Join(dir, "it's stopped/run")
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	flags := []string{"--steps", "3000", "--dropout", "0.2", "--save-every", "0", "--keep", "1", "--eval-every", "2"}
	require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), append(tinyFlags(text, calm), flags...)...))

	reader, stdout, err := os.Pipe() // holds less than the run prints, so that the run cannot end before the test reads
	require.NoError(t, err)
	defer reader.Close()
	c := startTrainTo(t, stdout, append(append(tinyFlags(text, dir), "--out", folder), flags...)...)
	require.NoError(t, stdout.Close())
	require.True(t, c.until(func() bool { return fileSize(filepath.Join(folder, metrics.FileName)) > 0 }))
	err = trainTo(t.Context(), new(bytes.Buffer), "--resume", folder)
	require.ErrorIs(t, err, checkpoint.ErrInUse)
	require.EqualError(t, err, fmt.Sprintf("--resume: train: checkpoints: %s: in use by another process (%d), want none",
		filepath.Join(folder, settings.CheckpointsFolder, "lock"), c.process.Pid))
	require.NoError(t, c.process.Signal(os.Interrupt))
	go io.Copy(io.Discard, reader)
	<-c.done
	var exit *exec.ExitError
	require.ErrorAs(t, c.err, &exit, c.printed)
	require.Equal(t, 130, exit.ExitCode(), c.printed)
	line := regexp.MustCompile(
		`(?m)^attention: train: stopped after (\d+) of 3000 steps; resume with: attention train (.*)$`)
	said := line.FindStringSubmatch(c.printed.String())
	require.NotNil(t, said, c.printed)
	require.Equal(t, []string{"step-" + fmt.Sprintf("%08s", said[1]) + ".safetensors"},
		namesIn(t, filepath.Join(folder, settings.CheckpointsFolder))[1:])

	shell, err := exec.Command("sh", "-c", "printf '%s\\n' "+said[2]).Output()
	require.NoError(t, err)
	again := strings.Split(strings.TrimSpace(string(shell)), "\n")
	require.Equal(t, []string{"--resume", folder}, again)
	var printed bytes.Buffer
	require.NoError(t, trainTo(t.Context(), &printed, append(again, "--sample", "40")...))
	require.Contains(t, printed.String(), "          continues after "+said[1]+" steps\n")
	require.Contains(t, printed.String(), "How far training moved the weights since step "+said[1]+" (")
	requireSameOutcome(t, calm, folder)
}

// TestTrainSignalled: a run that is ended by a signal saves its state, prints how to resume it and exits like a shell
// command.
func TestTrainSignalled(t *testing.T) {
	for _, c := range []struct {
		name    string
		signals []syscall.Signal // no signal: the reader of its output ends
		status  int
	}{
		{name: "terminated", signals: []syscall.Signal{syscall.SIGTERM}, status: 143},
		{name: "hung up, twice", signals: []syscall.Signal{syscall.SIGHUP, syscall.SIGHUP}, status: 129},
		{name: "nobody reads", status: 141},
		{name: "under nohup", signals: []syscall.Signal{syscall.SIGHUP, syscall.SIGINT}, status: 130},
	} {
		t.Run(c.name, func(t *testing.T) {
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
			for i, s := range c.signals {
				if err := started.process.Signal(s); i == 0 || !errors.Is(err, os.ErrProcessDone) { // the first one
					require.NoError(t, err)
				}
				if c.status == 130 && s == syscall.SIGHUP {
					time.Sleep(100 * time.Millisecond) // long enough for the process to end
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
			require.NotEmpty(t, namesIn(t, filepath.Join(folder, settings.CheckpointsFolder))[1:])
		})
	}
}

// requireSteps waits until a run has taken some more steps.
func requireSteps(t *testing.T, c *child, folder string) {
	path := filepath.Join(folder, metrics.FileName)
	before := fileSize(path)
	require.True(t, c.until(func() bool { return fileSize(path) > before+4096 }), c.printed)
}

// fileSize returns the size of a file, or 0 if there is none. The tests call it so often that go test should not record
// each call.
func fileSize(path string) int64 {
	var info unix.Stat_t
	if unix.Stat(path, &info) != nil {
		return 0
	}
	return info.Size
}

// TestTrainMoved: if the folder of a run was moved, the error names no checkpoint, because no path leads to one.
func TestTrainMoved(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	out := &doOnce{text: "validation  ", do: func() {
		require.NoError(t, os.Rename("run", "moved"))
		cancel()
	}}
	err := trainTo(ctx, out, "--steps", "100000", "--eval-every", "5", "--sample", "0", "--out", "run")
	require.EqualError(t, err, "train: stopped after 5 of 100000 steps: context canceled; "+
		"run: got none or another folder, want that of the run: it was moved or removed during the run")
	require.Contains(t, namesIn(t, "moved/checkpoints"), "step-00000005.safetensors")
	resume(t, "moved", "--steps", "6", "--sample", "0")
}
