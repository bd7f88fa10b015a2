package train

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run"

	"github.com/stretchr/testify/require"
)

// doOnce does something when a text is first printed.
type doOnce struct {
	bytes.Buffer
	text string
	do   func()
}

func (d *doOnce) Write(p []byte) (int, error) {
	if d.do != nil && bytes.Contains(p, []byte(d.text)) {
		d.do()
		d.do = nil
	}
	return d.Buffer.Write(p)
}

// TestTrainStopped: an interrupted run keeps what it has learnt, and the error tells how
// to resume it.
func TestTrainStopped(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	out := &doOnce{text: "validation  ", do: cancel} // the head of the table, printed after 5 steps
	err := trainTo(ctx, out, "--steps", "100000", "--eval-every", "5", "--sample", "50", "--out", "run")
	require.EqualError(t, err, "train: stopped after 5 of 100000 steps; resume with: attention train --resume run")
	require.Equal(t, runFiles, namesIn(t, "run"))
	require.Contains(t, out.String(), "How far training moved the weights")
	require.NotContains(t, out.String(), "the model continues")

	ctx, cancel = context.WithCancel(t.Context())
	out = &doOnce{text: "How far", do: cancel}
	err = trainTo(ctx, out, "--steps", "5", "--sample", "1000000", "--out", "sampling")
	require.EqualError(t, err, "train: sample: context canceled; sampling holds the model")
	require.Contains(t, namesIn(t, "sampling"), "model.safetensors")

	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	err = trainTo(ctx, out, "--out", "nothing")
	require.EqualError(t, err, "train: stopped after 0 of 2000 steps; resume with: attention train --resume nothing")
	require.Equal(t, []string{"checkpoints", "config.json", "metrics.jsonl"}, namesIn(t, "nothing"))
}

// TestTrainCannotWrite: a failure to print or save is an error, and the rest is still
// saved.
func TestTrainCannotWrite(t *testing.T) {
	t.Chdir(t.TempDir())
	err := trainTo(t.Context(), commandtest.Full{}, "--steps", "2", "--out", "printing")
	require.EqualError(t, err, "train: printing: no space left")
	require.Contains(t, namesIn(t, "printing"), "model.safetensors")

	out := &doOnce{text: "step ", do: func() { require.NoError(t, os.Mkdir("blocked/model.safetensors", 0o755)) }}
	err = trainTo(t.Context(), out, "--steps", "2", "--out", "blocked")
	require.ErrorContains(t, err, "blocked/model.safetensors")
	require.Equal(t, runFiles, namesIn(t, "blocked"))
	require.NotContains(t, out.String(), "In blocked")

	out = &doOnce{text: "step ", do: func() { require.NoError(t, os.RemoveAll("gone")) }}
	err = trainTo(t.Context(), out, "--steps", "2", "--out", "gone")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "train: checkpoint after 2 steps: ")
	require.NoDirExists(t, "gone")
}

// TestTrainNumbersRuns: without --out each run gets a folder of its own.
func TestTrainNumbersRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("runs/2", 0o755))
	for _, want := range []string{"runs/1", "runs/3"} {
		var out bytes.Buffer
		require.NoError(t, trainTo(t.Context(), &out, "--steps", "1", "--sample", "0"))
		require.Contains(t, out.String(), "folder    "+filepath.FromSlash(want)+"\n")
		require.FileExists(t, want+"/model.safetensors")
	}
	require.Empty(t, namesIn(t, "runs/2"))
	require.NoError(t, os.RemoveAll("runs"))
	require.NoError(t, os.WriteFile("runs", nil, 0o644))
	require.ErrorContains(t, trainTo(t.Context(), new(bytes.Buffer)), "--out: mkdir runs: ")
}

// TestTrainBeginsWhereAKilledOneDidNot: the remains of a run killed before it began are not a run.
func TestTrainBeginsWhereAKilledOneDidNot(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("run/checkpoints", 0o755))
	for _, left := range []string{"run/checkpoints/lock", "run/.tmp-config.json1"} {
		require.NoError(t, os.WriteFile(left, nil, 0o644))
	}
	require.ErrorContains(t, trainTo(t.Context(), new(bytes.Buffer), "--resume", "run"), "want the folder of a run")
	require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), "--steps", "1", "--sample", "0", "--out", "run"))
	require.Equal(t, runFiles, namesIn(t, "run"))

	// Checkpoints of another run are not used.
	for _, name := range namesIn(t, "run") {
		if name != run.CheckpointsFolder {
			require.NoError(t, os.Remove(filepath.Join("run", name)))
		}
	}
	require.EqualError(t, trainTo(t.Context(), new(bytes.Buffer), "--out", "run"),
		"--out: run: got a folder that is not empty, want a new or empty one")
}
