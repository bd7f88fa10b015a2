package train_test

import (
	"context"
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

// A run leaves its newest checkpoints, and removes older ones only after a save.
func TestRunSavesCheckpoints(t *testing.T) {
	for _, row := range []struct {
		reason      string
		every, keep int
		before      [][]int // the checkpoints before each save
		after       []int
	}{
		{reason: "only the end", every: 0, keep: 0, before: [][]int{nil}, after: []int{10}},
		{reason: "only the newest stays", every: 4, keep: 1, before: [][]int{nil, {4}, {8}}, after: []int{10}},
		{reason: "two stay by default", every: 3, keep: 0, before: [][]int{nil, {3}, {3, 6}, {6, 9}}, after: []int{9, 10}},
		{reason: "the end is a multiple", every: 5, keep: 9, before: [][]int{nil, {5}}, after: []int{5, 10}},
		{reason: "longer than the run", every: 99, keep: 3, before: [][]int{nil}, after: []int{10}},
	} {
		folder := filepath.Join(t.TempDir(), "a", "b")
		checkpoints := openCheckpoints(t, folder, train.CheckpointsConfig{Every: row.every, Keep: row.keep})
		c := config()
		c.EvalEvery = 1
		var before [][]int
		evaluated, evaluations := 0, 0
		c.OnEval = func(e train.Evaluation) { evaluated = e.Step; evaluations++ }
		c.BeforeSave = func() error {
			before = append(before, stepsIn(t, checkpoints))
			if row.every > 0 && len(before) < len(row.before) {
				require.Equal(t, row.every*len(before), evaluated, "the evaluation comes first")
			}
			return nil
		}
		l := newModel(t, tensor.Float32, 1, 0.1).loop(t, c)
		l.SaveTo(checkpoints)
		require.NoError(t, l.Run(context.Background(), textSources(t)["random"], randomBatches(1)))
		require.Equal(t, row.before, before, row.reason)
		require.Equal(t, row.after, stepsIn(t, checkpoints), row.reason)
		require.NoError(t, l.Run(context.Background(), textSources(t)["random"], randomBatches(1)))
		require.Len(t, before, len(row.before), "nothing new to save")
		require.Equal(t, trainedSteps, evaluations, "nor to evaluate")
	}
}

// However often a run is stopped, between steps or in an evaluation, its losses and its
// weights are the same.
func TestStoppedRunResumes(t *testing.T) {
	run := func(stops bool) (shown trail, ends map[string][]uint64) {
		folder := t.TempDir()
		for pass := 0; ; pass++ {
			checkpoints, err := train.OpenCheckpoints(folder, train.CheckpointsConfig{Every: 4})
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(context.Background())
			c := config()
			c.Accumulate, c.EvalEvery = 2, 2
			shown.follow(&c)
			m, source := newModel(t, tensor.Float32, 7, 0.3), textSources(t)["random"]
			eval := &watched{randomBatches(2), func() {}}
			if stops && pass%2 == 0 { // in the middle of the next evaluation
				calls := 0
				eval.look = func() {
					if calls++; calls == 2 {
						cancel()
					}
				}
			} else if stops { // after the next step
				follow := c.OnStep
				c.OnStep = func(s train.StepResult) { follow(s); cancel() }
			}
			l := m.loop(t, c)
			l.SaveTo(checkpoints)
			found, err := checkpoints.Restore(l, source)
			require.NoError(t, err)
			require.Equal(t, pass > 0, found)
			err = l.Run(ctx, source, eval)
			cancel()
			require.NoError(t, checkpoints.Close())
			if err == nil {
				require.Equal(t, stops, pass > 5)
				return shown, bitsOf(m.values())
			}
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, l.Steps(), stepsIn(t, checkpoints)[len(stepsIn(t, checkpoints))-1])
		}
	}
	wantShown, wantEnds := run(false)
	shown, ends := run(true)
	require.Equal(t, wantShown, shown)
	require.Equal(t, wantEnds, ends)
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
	for want, c := range map[string]train.CheckpointsConfig{
		"train: checkpoints: Every: got -1, want at least 0": {Every: -1},
		"train: checkpoints: Keep: got -2, want at least 0":  {Keep: -2},
	} {
		_, err := train.OpenCheckpoints(folder, c)
		require.EqualError(t, err, want)
	}

	l := newModel(t, tensor.Float32, 8, 0.3).loop(t, config())
	l.SaveTo(checkpoints)
	err = l.Run(context.Background(), &batches{end: io.EOF}, nil)
	require.EqualError(t, err, "train: source to train on: got a *train_test.batches, want a Resumable one: "+
		"a checkpoint has to hold where it stands")
}
