package train

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/term"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestTrainOnAFullDisk: a run without space for a checkpoint prints how to resume it once there is space, and that
// command works. A limit on file sizes simulates the full disk; it leaves enough for the files of go test itself.
func TestTrainOnAFullDisk(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	limit := func(bytes uint64) {
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: before.Max}))
	}
	flags := strings.Fields("--width 384 --save-every 5 --eval-every 7") // 7 MB
	calm, _ := tinyRun(t, flags...)
	dir := t.TempDir()
	text, folder := filepath.Join(dir, "text.txt"), filepath.Join(dir, "run")
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	out := &doOnce{text: "   7  ", do: func() { limit(5 << 20) }}
	err := trainTo(t.Context(), out, append(tinyFlags(text, folder), flags...)...)
	limit(before.Cur)
	require.ErrorIs(t, err, syscall.EFBIG)
	require.ErrorContains(t, err, "train: checkpoint after 10 steps: safetensors: ")
	require.ErrorContains(t, err, "; resume from "+
		filepath.Join(folder, settings.CheckpointsFolder, "step-00000005.safetensors")+" with: attention train --resume "+folder)
	require.Equal(t, 1, term.ExitCode(err))
	resume(t, folder)
	want, got := outcome(t, calm), outcome(t, folder)
	delete(want, settings.ConfigFile) // their texts have other names
	delete(got, settings.ConfigFile)
	require.True(t, maps.Equal(want, got))
}

// alone reports whether the test runs in its own process, for example with a limit that leaves too little for the files
// of go test. If the test shares a process, alone runs it in a new one.
func alone(t *testing.T) bool {
	const variable = "ATTENTION_TEST_ALONE"
	if os.Getenv(variable) == t.Name() {
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), variable+"="+t.Name())
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return false
}

// If the disk is full only at the very end, the error has one line. It lists the files that could not be written, and
// the command that writes them again.
func TestTrainEndsOnAFullDisk(t *testing.T) {
	if !alone(t) {
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	dir := t.TempDir()
	text, folder := filepath.Join(dir, "text.txt"), filepath.Join(dir, "run")
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	out := &doOnce{text: "losses in nats per", do: func() {
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4 << 10, Max: before.Max}))
	}}
	err := trainTo(t.Context(), out, append(tinyFlags(text, folder), "--width", "16")...)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before))
	require.EqualError(t, err, "train: "+filepath.Join(folder, settings.ModelFile)+": file too large; "+
		"train: "+filepath.Join(folder, session.LossPicture)+": file too large; "+
		"train: "+filepath.Join(folder, session.AttentionPicture)+": file too large; "+
		"train: "+filepath.Join(folder, session.WeightsPicture)+": file too large; "+
		"train: "+filepath.Join(folder, session.StepsPicture)+": file too large; "+
		"once that is mended, write the files anew with: attention train --resume "+folder)
	require.Equal(t, 1, term.ExitCode(err))
	require.NotContains(t, strings.Join(namesIn(t, folder), " "), ".tmp-")
	resume(t, folder)
	require.Equal(t, runFiles, namesIn(t, folder))
}

// TestTrainInAReadOnlyFolder: a read-only folder is an error at the start, and also if it becomes read-only later.
func TestTrainInAReadOnlyFolder(t *testing.T) {
	folder, _ := tinyRun(t)
	parent := filepath.Dir(folder)
	checkpoints := filepath.Join(folder, settings.CheckpointsFolder)
	before := contents(t, folder)
	for _, path := range []string{checkpoints, folder, parent} {
		require.NoError(t, os.Chmod(path, 0o555))
		defer os.Chmod(path, 0o755)
	}
	require.NoError(t, os.Chmod(filepath.Dir(parent), 0o755))
	require.NoError(t, os.Chmod(filepath.Join(checkpoints, "lock"), 0o444))
	asNobody(t, func() {
		err := trainTo(t.Context(), new(bytes.Buffer), "--out", filepath.Join(parent, "other"))
		require.ErrorIs(t, err, os.ErrPermission)
		require.EqualError(t, err, "--out: mkdir "+filepath.Join(parent, "other")+
			": permission denied, want a folder to write to")
		err = trainTo(t.Context(), new(bytes.Buffer), "--resume", folder)
		require.ErrorIs(t, err, os.ErrPermission)
		require.EqualError(t, err, "--resume: train: checkpoints: open "+filepath.Join(checkpoints, "lock")+
			": permission denied")
	})
	require.Equal(t, before, contents(t, folder))
}

// asNobody calls a function with the permissions of the user nobody if the tests run as root, for whom no folder is
// read-only. Only this goroutine gets those permissions.
func asNobody(t *testing.T, do func()) {
	if os.Getuid() == 0 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		require.NoError(t, unix.Setfsuid(65534))
		defer func() { require.NoError(t, unix.Setfsuid(0)) }()
	}
	do()
}
