package checkpoint_test

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"attention/internal/small"
	"attention/layers"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"
)

// requireStopsAt runs a loop whose checkpoint after 6 steps cannot be written. The error wraps want, and the earlier
// checkpoints are intact.
func requireStopsAt(t *testing.T, folder string, want error, block, unblock func()) {
	checkpoints := small.OpenFolder(t, folder, checkpoint.Config{Every: 2})
	c := small.Config()
	saves := 0
	c.BeforeSave = func() (map[string]string, error) {
		if saves++; saves == 3 {
			block()
		}
		return nil, nil
	}
	c.Solver.Name = train.SGD
	p := layers.NewParams(tensor.Float64, 0)
	w := must(p.Scope("").Param("w", layers.Constant(1), 1<<19))
	l := must(loop.New(p, func(b *layers.Build, _ layers.Inputs) []*G.Node {
		return b.Nodes(G.Sum(G.Must(G.Square(b.Node(w)))))
	}, c))
	l.SaveTo(checkpoints)
	err := l.Run(context.Background(), noInputs{small.Texts(t)["random"]}, nil)
	unblock()
	require.ErrorIs(t, err, want)
	require.ErrorContains(t, err, "train: checkpoint after 6 steps: ")
	require.Equal(t, 6, l.Steps())
	require.Len(t, must(os.ReadDir(folder)), 3, "two checkpoints and the lock")
	for _, steps := range []int{2, 4} {
		require.NoError(t, small.Restore(l, checkpoints.Path(steps), small.Texts(t)["random"]))
		require.Equal(t, steps, l.Steps())
	}
}

// noInputs is the list for a loss without inputs.
type noInputs struct{ train.Resumable }

func (noInputs) Next() (train.Batch, error) { return train.Batch{}, nil }

// The disk fills up in the middle of a checkpoint. Here a limit on file sizes causes this; it leaves room for the files
// of go test itself.
func TestCheckpointOnAFullDisk(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	limit := func(bytes uint64) func() {
		return func() {
			require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: before.Max}))
		}
	}
	requireStopsAt(t, t.TempDir(), syscall.EFBIG, limit(2<<20), limit(before.Cur))
}

// The folder becomes read-only.
func TestCheckpointInAReadOnlyFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "checkpoints")
	require.NoError(t, os.Mkdir(folder, 0o755))
	become := asNobody(t)
	requireStopsAt(t, folder, os.ErrPermission,
		func() { require.NoError(t, os.Chmod(folder, 0o555)); become(65534) },
		func() { become(os.Getuid()); require.NoError(t, os.Chmod(folder, 0o755)) })

	become(65534)
	_, err := checkpoint.Open(filepath.Join(folder, "new"), checkpoint.Config{})
	become(os.Getuid())
	require.ErrorIs(t, err, os.ErrPermission)
	require.ErrorContains(t, err, "train: checkpoints: mkdir ")
}

// asNobody makes permissions apply to this goroutine's thread, and no other. Without it they do not apply when the
// tests run as root.
func asNobody(t *testing.T) (become func(uid int)) {
	if os.Getuid() != 0 {
		return func(int) {}
	}
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	return func(uid int) { require.NoError(t, unix.Setfsuid(uid)) }
}
