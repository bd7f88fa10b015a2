package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"attention/internal/small"
	"attention/train"
	"attention/train/checkpoint"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// Only one process at a time can open the folder. It removes the incomplete files of a killed process, and no others.
func TestOpenCheckpoints(t *testing.T) {
	folder := t.TempDir()
	names := []string{".tmp-step-00000002.safetensors123", "step-2.safetensors", "step-00000001.safetensors.bak", "notes"}
	for _, name := range names {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), nil, 0o644))
	}
	checkpoints := small.OpenFolder(t, folder, checkpoint.Config{})
	require.NoFileExists(t, filepath.Join(folder, names[0]))
	for _, name := range names[1:] {
		require.FileExists(t, filepath.Join(folder, name))
	}
	require.Empty(t, small.StepsIn(t, checkpoints))
	require.Nil(t, must(checkpoints.Restore(small.New(t, tensor.Float32, 8, 0.3).Loop(t, small.Config()), nil)))

	_, err := checkpoint.Open(folder, checkpoint.Config{})
	require.ErrorIs(t, err, checkpoint.ErrInUse)
	require.EqualError(t, err, fmt.Sprintf("train: checkpoints: %s: in use by another process (%d), want none",
		filepath.Join(folder, "lock"), os.Getpid()))
	require.NoError(t, checkpoints.Close())
	checkpoints = small.OpenFolder(t, folder, checkpoint.Config{})
	require.Equal(t, strconv.Itoa(os.Getpid())+"\n", string(must(os.ReadFile(filepath.Join(folder, "lock")))))

	steps, err := checkpoint.Steps(folder)
	require.NoError(t, err, "without the lock")
	require.Empty(t, steps)
	for _, n := range []int{300, 20} {
		require.NoError(t, os.WriteFile(checkpoint.Path(folder, n), nil, 0o644))
	}
	steps = must(checkpoint.Steps(folder))
	require.Equal(t, []int{20, 300}, steps)
	require.Equal(t, filepath.Join(folder, "step-00000300.safetensors"), checkpoints.Path(300))
	_, err = checkpoint.Steps(filepath.Join(folder, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)

	_, err = checkpoint.Open(filepath.Join(folder, "notes", "more"), checkpoint.Config{})
	require.ErrorContains(t, err, "train: checkpoints: mkdir ")
	_, err = checkpoint.Open(folder, checkpoint.Config{Every: -1})
	require.EqualError(t, err, "train: checkpoints: Every: got -1, want at least 0")
	_, err = checkpoint.Open(folder, checkpoint.Config{Keep: -2})
	require.EqualError(t, err, "train: checkpoints: Keep: got -2, want at least 0")

	l := small.New(t, tensor.Float32, 8, 0.3).Loop(t, small.Config())
	l.SaveTo(checkpoints)
	err = l.Run(context.Background(), &small.List{End: io.EOF}, nil)
	require.EqualError(t, err, "train: source to train on: got a *small.List, want a Resumable one: "+
		"a checkpoint has to hold its position")
}

// No file name or link in a folder of checkpoints leads outside the folder: no lock is written elsewhere, and files
// that no run was writing stay.
func TestCheckpointsStayInTheirFolder(t *testing.T) {
	outside, folder := t.TempDir(), t.TempDir()
	target := filepath.Join(outside, "x")
	require.NoError(t, os.WriteFile(target, []byte("theirs"), 0o644))
	requireUntouched := func() {
		t.Helper()
		require.Equal(t, "theirs", string(must(os.ReadFile(target))))
	}
	link := func(name string) string {
		path := filepath.Join(folder, name)
		if err := os.Symlink(target, path); err != nil {
			t.Skip(err)
		}
		return path
	}
	lock := link("lock")
	_, err := checkpoint.Open(folder, checkpoint.Config{})
	require.EqualError(t, err, "train: checkpoints: open "+lock+": got a symbolic link, want a regular file")
	requireUntouched()
	require.NoError(t, os.Remove(lock))

	foreign := []string{".tmp-notes", ".tmp-step-2.safetensors3", ".tmp-step-00000001.safetensors"}
	for _, name := range foreign {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), nil, 0o644))
	}
	foreign = append(foreign, filepath.Base(link(".tmp-step-00000001.safetensors9")))
	checkpoints := small.OpenFolder(t, folder, checkpoint.Config{Every: 2})
	for _, name := range foreign {
		_, err := os.Lstat(filepath.Join(folder, name))
		require.NoError(t, err, name)
	}
	step := link("step-00000002.safetensors")
	require.Empty(t, small.StepsIn(t, checkpoints))
	l := small.New(t, tensor.Float32, 7, 0.3).Loop(t, small.Config())
	l.SaveTo(checkpoints)
	err = l.Run(context.Background(), small.Texts(t)["random"], nil)
	require.EqualError(t, err, "train: checkpoint after 2 steps: open "+step+": got a symbolic link, want a regular file")
	requireUntouched()
}

// The caller adds notes to a checkpoint; they need not agree when a run resumes.
func TestNotes(t *testing.T) {
	folder := t.TempDir()
	checkpoints := small.OpenFolder(t, folder, checkpoint.Config{Every: 4})
	c := small.Config()
	saves := 0
	c.BeforeSave = func() (map[string]string, error) {
		saves++
		return map[string]string{"saves": strconv.Itoa(saves)}, nil
	}
	l := small.New(t, tensor.Float32, 7, 0.3).Loop(t, c)
	require.Empty(t, l.State().Notes)
	l.SaveTo(checkpoints)
	require.NoError(t, l.Run(context.Background(), small.Texts(t)["random"], nil))
	require.Equal(t, map[string]string{"saves": "3"}, l.State().Notes)
	again := small.New(t, tensor.Float32, 8, 0.3).Loop(t, c)
	require.NoError(t, small.Restore(again, checkpoints.Path(8), nil))
	require.Equal(t, map[string]string{"saves": "2"}, again.State().Notes)
}

// If the newest checkpoint is damaged, the error names the newest intact one. A run that resumes from that one removes
// the damaged checkpoint.
func TestDamagedCheckpoint(t *testing.T) {
	folder := t.TempDir()
	checkpoints := small.OpenFolder(t, folder, checkpoint.Config{Every: 2, Keep: 4})
	c := small.Config()
	m := small.New(t, tensor.Float32, 7, 0.3)
	l := m.Loop(t, c)
	l.SaveTo(checkpoints)
	require.NoError(t, l.Run(context.Background(), small.Texts(t)["random"], nil))
	require.Equal(t, []int{4, 6, 8, 10}, small.StepsIn(t, checkpoints))
	ends := small.Bits(m.Values())

	damage := func(steps int) {
		content := must(os.ReadFile(checkpoints.Path(steps)))
		content[len(content)/2] ^= 16
		require.NoError(t, os.WriteFile(checkpoints.Path(steps), content, 0o644))
	}
	damage(10)
	damage(8)
	twin, source := small.New(t, tensor.Float32, 8, 0.3), small.Texts(t)["random"]
	before := small.Bits(twin.Values())
	l = twin.Loop(t, c)
	l.SaveTo(checkpoints)
	found, err := checkpoints.Restore(l, source)
	require.Nil(t, found)
	var damaged *checkpoint.DamagedError
	require.ErrorAs(t, err, &damaged)
	require.ErrorIs(t, err, checkpoint.ErrDamaged)
	require.Equal(t, filepath.Join(folder, "step-00000006.safetensors"), damaged.Intact)
	require.ErrorContains(t, err, "train: checkpoint: "+checkpoints.Path(10)+": damaged: checksum: got ")
	require.ErrorContains(t, err, "; the newest intact checkpoint is "+damaged.Intact)
	require.Equal(t, before, small.Bits(twin.Values()))

	require.NoError(t, small.Restore(l, damaged.Intact, source))
	require.NoError(t, checkpoints.Save(l, source))
	require.Equal(t, []int{4, 6}, small.StepsIn(t, checkpoints), "the damaged ones are gone")
	require.NoError(t, l.Run(context.Background(), source, nil))
	require.Equal(t, ends, small.Bits(twin.Values()))
	require.Equal(t, []int{4, 6, 8, 10}, small.StepsIn(t, checkpoints))
	must(checkpoints.Restore(l, source))

	for _, steps := range []int{4, 6, 8, 10} {
		damage(steps)
	}
	_, err = checkpoints.Restore(l, source)
	require.ErrorContains(t, err, "; there is no other intact checkpoint")

	// A loop that does not fit gets another error.
	other := small.Config()
	other.Solver.Name = train.Adam
	require.NoError(t, checkpoint.Save(l, checkpoints.Path(12), source))
	_, err = checkpoints.Restore(small.New(t, tensor.Float32, 8, 0.3).Loop(t, other), source)
	require.ErrorContains(t, err, "solver: got adamw")
	require.False(t, errors.As(err, &damaged) || errors.Is(err, checkpoint.ErrDamaged))
}
