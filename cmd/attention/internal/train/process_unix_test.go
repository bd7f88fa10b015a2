//go:build unix

package train

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run"
	"attention/cmd/attention/internal/term"
	"attention/train"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// childVariable is set in the environment of a child, which never starts another.
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
	printed *bytes.Buffer // stdout and stderr, to be read when it is done
	done    chan struct{}
	err     error // when it is done
}

func startTrain(t *testing.T, args ...string) *child { return startTrainTo(t, nil, args...) }

// startTrainTo starts a child that prints to a file, unless that is nil.
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

// until waits for a condition and reports whether it held before the process ended.
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

// TestTrainSurvivesKills: a run that is killed fifty times, while it starts, between
// and in its steps and while it saves, ends with the bits of one that is left alone.
func TestTrainSurvivesKills(t *testing.T) {
	const kills, steps = 50, 4000
	dir := t.TempDir()
	text := filepath.Join(dir, "text.txt")
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	flags := func(folder string) []string {
		return append(tinyFlags(text, filepath.Join(dir, folder)), strings.Fields(fmt.Sprintf(
			"--steps %d --save-every 37 --eval-every 150 --dropout 0.2 --accumulate 2 --weight-decay 0.1 --sample 0", steps))...)
	}
	began := time.Now()
	calm := startTrain(t, flags("calm")...)
	require.True(t, calm.until(func() bool { return fileSize(filepath.Join(dir, "calm", run.MetricsFile)) > 0 }))
	startup := time.Since(began)
	<-calm.done
	require.NoError(t, calm.err, calm.printed)

	folder, whole := filepath.Join(dir, "killed"), fileSize(filepath.Join(dir, "calm", run.MetricsFile))
	taken := func() int { return int(fileSize(filepath.Join(folder, run.MetricsFile)) * steps / whole) } // about
	random := rand.New(rand.NewPCG(uint64(began.UnixNano()), 0))
	spread := map[int]bool{}
	for kill := range kills {
		c := startTrain(t, begin(folder, flags("killed"))...)
		if kill%3 == 0 {
			time.Sleep(time.Duration(random.Int64N(int64(startup))))
		} else {
			target := taken() + random.IntN(2*steps/kills)
			c.until(func() bool { return taken() >= target && (kill%3 == 1 || isSaving(folder)) })
			time.Sleep(time.Duration(random.IntN(1000)) * time.Microsecond)
		}
		c.kill()
		var exit *exec.ExitError
		require.True(t, c.err == nil || errors.As(c.err, &exit) && !exit.Exited(), "%v: %s", c.err, c.printed)
		spread[taken()] = true
	}
	last := startTrain(t, begin(folder, nil)...)
	<-last.done
	require.NoError(t, last.err, last.printed)
	require.Contains(t, last.printed.String(), "\n          continues after ")
	require.Greater(t, len(spread), kills/5, "kills at %v", spread)
	requireSameOutcome(t, filepath.Join(dir, "calm"), folder)
}

// TestTrainInterrupted: Ctrl-C ends a run with exit code 130 and prints the command that
// resumes it; until then no other process may resume it.
func TestTrainInterrupted(t *testing.T) {
	dir := t.TempDir()
	text, calm, folder := filepath.Join(dir, "text.txt"), filepath.Join(dir, "calm"), filepath.Join(dir, "it's stopped")
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	flags := []string{"--steps", "3000", "--dropout", "0.2", "--save-every", "0", "--keep", "1"}
	require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), append(tinyFlags(text, calm), flags...)...))

	c := startTrain(t, append(append(tinyFlags(text, dir), "--out", folder), flags...)...)
	require.True(t, c.until(func() bool { return fileSize(filepath.Join(folder, run.MetricsFile)) > 0 }))
	err := trainTo(t.Context(), new(bytes.Buffer), "--resume", folder)
	require.ErrorIs(t, err, train.ErrInUse)
	require.EqualError(t, err, fmt.Sprintf("--resume: train: checkpoints: %s: in use by another process (%d), want none",
		filepath.Join(folder, run.CheckpointsFolder, "lock"), c.process.Pid))
	require.NoError(t, c.process.Signal(os.Interrupt))
	<-c.done
	var exit *exec.ExitError
	require.ErrorAs(t, c.err, &exit, c.printed)
	require.Equal(t, 130, exit.ExitCode(), c.printed)
	said := regexp.MustCompile(`(?m)^attention: train: stopped after (\d+) of 3000 steps; resume with: attention train (.*)$`).FindStringSubmatch(c.printed.String())
	require.NotNil(t, said, c.printed)
	require.Equal(t, []string{"step-" + fmt.Sprintf("%08s", said[1]) + ".safetensors"},
		namesIn(t, filepath.Join(folder, run.CheckpointsFolder))[1:])

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

// begin returns the flags to resume a run, or to begin it if it was killed before it began.
func begin(folder string, flags []string) []string {
	if fileSize(filepath.Join(folder, run.ConfigFile)) == 0 {
		return flags
	}
	return []string{"--resume", folder, "--sample", "0"}
}

// fileSize returns the size of a file, 0 if there is none. It is called so often that
// go test should not record each call.
func fileSize(path string) int64 {
	var info unix.Stat_t
	if unix.Stat(path, &info) != nil {
		return 0
	}
	return info.Size
}

// isSaving reports whether a checkpoint is being written.
func isSaving(folder string) bool {
	entries, _ := os.ReadDir(filepath.Join(folder, run.CheckpointsFolder))
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), ".tmp-") })
}
