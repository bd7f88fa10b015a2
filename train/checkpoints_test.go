package train_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"attention/train"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// openCheckpoints opens a folder until the test ends.
func openCheckpoints(t *testing.T, folder string, c train.CheckpointsConfig) *train.Checkpoints {
	checkpoints, err := train.OpenCheckpoints(folder, c)
	require.NoError(t, err)
	t.Cleanup(func() { checkpoints.Close() })
	return checkpoints
}

func stepsIn(t *testing.T, c *train.Checkpoints) []int {
	steps, err := c.Steps()
	require.NoError(t, err)
	return steps
}

// One process at a time holds the folder. It removes the incomplete files of a killed
// one, and no others.
func TestOpenCheckpoints(t *testing.T) {
	folder := t.TempDir()
	names := []string{".tmp-step-00000002.safetensors123", "step-2.safetensors", "step-00000001.safetensors.bak", "notes"}
	for _, name := range names {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), nil, 0o644))
	}
	checkpoints := openCheckpoints(t, folder, train.CheckpointsConfig{})
	require.NoFileExists(t, filepath.Join(folder, names[0]))
	for _, name := range names[1:] {
		require.FileExists(t, filepath.Join(folder, name))
	}
	require.Empty(t, stepsIn(t, checkpoints))
	found, err := checkpoints.Restore(newModel(t, tensor.Float32, 8, 0.3).loop(t, config()), nil)
	require.NoError(t, err)
	require.False(t, found)

	_, err = train.OpenCheckpoints(folder, train.CheckpointsConfig{})
	require.ErrorIs(t, err, train.ErrInUse)
	require.EqualError(t, err, fmt.Sprintf("train: checkpoints: %s: in use by another process (%d), want none",
		filepath.Join(folder, "lock"), os.Getpid()))
	require.NoError(t, checkpoints.Close())
	checkpoints = openCheckpoints(t, folder, train.CheckpointsConfig{})
	number, err := os.ReadFile(filepath.Join(folder, "lock"))
	require.NoError(t, err)
	require.Equal(t, strconv.Itoa(os.Getpid())+"\n", string(number))

	steps, err := train.CheckpointSteps(folder)
	require.NoError(t, err, "without the lock")
	require.Empty(t, steps)
	for _, n := range []int{300, 20} {
		require.NoError(t, os.WriteFile(train.CheckpointPath(folder, n), nil, 0o644))
	}
	steps, err = train.CheckpointSteps(folder)
	require.NoError(t, err)
	require.Equal(t, []int{20, 300}, steps)
	require.Equal(t, filepath.Join(folder, "step-00000300.safetensors"), checkpoints.Path(300))
	_, err = train.CheckpointSteps(filepath.Join(folder, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)

	_, err = train.OpenCheckpoints(filepath.Join(folder, "notes", "more"), train.CheckpointsConfig{})
	require.ErrorContains(t, err, "train: checkpoints: mkdir ")
	_, err = train.OpenCheckpoints(folder, train.CheckpointsConfig{Every: -1})
	require.EqualError(t, err, "train: checkpoints: Every: got -1, want at least 0")
	_, err = train.OpenCheckpoints(folder, train.CheckpointsConfig{Keep: -2})
	require.EqualError(t, err, "train: checkpoints: Keep: got -2, want at least 0")

	l := newModel(t, tensor.Float32, 8, 0.3).loop(t, config())
	l.SaveTo(checkpoints)
	err = l.Run(context.Background(), &batches{end: io.EOF}, nil)
	require.EqualError(t, err, "train: source to train on: got a *train_test.batches, want a Resumable one: "+
		"a checkpoint has to hold where it stands")
}

// Nothing that a folder of checkpoints holds leads out of it: no lock is written elsewhere, and
// what no run was writing stays.
func TestCheckpointsStayInTheirFolder(t *testing.T) {
	outside, folder := t.TempDir(), t.TempDir()
	target := filepath.Join(outside, "x")
	require.NoError(t, os.WriteFile(target, []byte("theirs"), 0o644))
	requireUntouched := func() {
		t.Helper()
		content, err := os.ReadFile(target)
		require.NoError(t, err)
		require.Equal(t, "theirs", string(content))
	}
	link := func(name string) string {
		path := filepath.Join(folder, name)
		if err := os.Symlink(target, path); err != nil {
			t.Skip(err)
		}
		return path
	}
	lock := link("lock")
	_, err := train.OpenCheckpoints(folder, train.CheckpointsConfig{})
	require.EqualError(t, err, "train: checkpoints: open "+lock+": got a symbolic link, want a regular file")
	requireUntouched()
	require.NoError(t, os.Remove(lock))

	foreign := []string{".tmp-notes", ".tmp-step-2.safetensors3", ".tmp-step-00000001.safetensors"}
	for _, name := range foreign {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), nil, 0o644))
	}
	foreign = append(foreign, filepath.Base(link(".tmp-step-00000001.safetensors9")))
	checkpoints := openCheckpoints(t, folder, train.CheckpointsConfig{Every: 2})
	for _, name := range foreign {
		_, err := os.Lstat(filepath.Join(folder, name))
		require.NoError(t, err, name)
	}
	step := link("step-00000002.safetensors")
	require.Empty(t, stepsIn(t, checkpoints))
	l := newModel(t, tensor.Float32, 7, 0.3).loop(t, config())
	l.SaveTo(checkpoints)
	err = l.Run(context.Background(), textSources(t)["random"], nil)
	require.EqualError(t, err, "train: checkpoint after 2 steps: open "+step+": got a symbolic link, want a regular file")
	requireUntouched()
}

// Notes are what the caller adds to a checkpoint; they need not agree when a run resumes.
func TestNotes(t *testing.T) {
	folder := t.TempDir()
	checkpoints := openCheckpoints(t, folder, train.CheckpointsConfig{Every: 4})
	c := config()
	saves := 0
	c.BeforeSave = func() (map[string]string, error) {
		saves++
		return map[string]string{"saves": strconv.Itoa(saves)}, nil
	}
	l := newModel(t, tensor.Float32, 7, 0.3).loop(t, c)
	require.Empty(t, l.Notes())
	l.SaveTo(checkpoints)
	require.NoError(t, l.Run(context.Background(), textSources(t)["random"], nil))
	require.Equal(t, map[string]string{"saves": "3"}, l.Notes())
	again := newModel(t, tensor.Float32, 8, 0.3).loop(t, c)
	require.NoError(t, again.Restore(checkpoints.Path(8), nil))
	require.Equal(t, map[string]string{"saves": "2"}, again.Notes())
}

// If the newest checkpoint is damaged, the error names the newest one that is not. A run
// that resumes from that one removes the damaged one.
func TestDamagedCheckpoint(t *testing.T) {
	folder := t.TempDir()
	checkpoints := openCheckpoints(t, folder, train.CheckpointsConfig{Every: 2, Keep: 4})
	c := config()
	m := newModel(t, tensor.Float32, 7, 0.3)
	l := m.loop(t, c)
	l.SaveTo(checkpoints)
	require.NoError(t, l.Run(context.Background(), textSources(t)["random"], nil))
	require.Equal(t, []int{4, 6, 8, 10}, stepsIn(t, checkpoints))
	ends := bitsOf(m.values())

	damage := func(steps int) {
		content, err := os.ReadFile(checkpoints.Path(steps))
		require.NoError(t, err)
		content[len(content)/2] ^= 16
		require.NoError(t, os.WriteFile(checkpoints.Path(steps), content, 0o644))
	}
	damage(10)
	damage(8)
	twin, source := newModel(t, tensor.Float32, 8, 0.3), textSources(t)["random"]
	before := bitsOf(twin.values())
	l = twin.loop(t, c)
	l.SaveTo(checkpoints)
	found, err := checkpoints.Restore(l, source)
	require.False(t, found)
	var damaged *train.DamagedError
	require.ErrorAs(t, err, &damaged)
	require.ErrorIs(t, err, train.ErrDamaged)
	require.Equal(t, filepath.Join(folder, "step-00000006.safetensors"), damaged.Intact)
	require.ErrorContains(t, err, "train: checkpoint: "+checkpoints.Path(10)+": damaged: checksum: got ")
	require.ErrorContains(t, err, "; the newest intact checkpoint is "+damaged.Intact)
	require.Equal(t, before, bitsOf(twin.values()))

	require.NoError(t, l.Restore(damaged.Intact, source))
	require.NoError(t, checkpoints.Save(l, source))
	require.Equal(t, []int{4, 6}, stepsIn(t, checkpoints), "the damaged ones are gone")
	require.NoError(t, l.Run(context.Background(), source, nil))
	require.Equal(t, ends, bitsOf(twin.values()))
	require.Equal(t, []int{4, 6, 8, 10}, stepsIn(t, checkpoints))
	_, err = checkpoints.Restore(l, source)
	require.NoError(t, err)

	for _, steps := range []int{4, 6, 8, 10} {
		damage(steps)
	}
	_, err = checkpoints.Restore(l, source)
	require.ErrorContains(t, err, "; there is no other intact checkpoint")

	// A loop that does not fit is another matter.
	other := config()
	other.Solver.Name = train.Adam
	require.NoError(t, l.Save(checkpoints.Path(12), source))
	_, err = checkpoints.Restore(newModel(t, tensor.Float32, 8, 0.3).loop(t, other), source)
	require.ErrorContains(t, err, "solver: got adamw")
	require.False(t, errors.As(err, &damaged) || errors.Is(err, train.ErrDamaged))
}
