package train

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"

	"github.com/stretchr/testify/require"
)

// doOnce calls a function when a text is printed for the first time.
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

// filesWithoutModel are the files of a run that ends before its first checkpoint.
var filesWithoutModel = []string{"checkpoints", "config.json", "metrics.jsonl", "report.json", "watch.jsonl",
	"watch.safetensors"}

// TestTrainStopped: an interrupted run saves its state, and the error names the command that resumes it.
func TestTrainStopped(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	out := &doOnce{text: "validation  ", do: cancel} // the head of the table, printed after 5 steps
	err := trainTo(ctx, out, "--steps", "100000", "--eval-every", "5", "--sample", "50", "--out", "run")
	require.EqualError(t, err, "stopped after 5 of 100000 steps; resume with: attention train --resume run")
	require.Equal(t, runFiles, namesIn(t, "run"))
	require.Contains(t, out.String(), "How far training moved the weights")
	require.NotContains(t, out.String(), "the model continues")

	ctx, cancel = context.WithCancel(t.Context())
	out = &doOnce{text: "losses in nats per", do: cancel}
	err = trainTo(ctx, out, "--steps", "5", "--sample", "1000000", "--out", "sampling")
	require.EqualError(t, err, "interrupted before the sample; sampling holds the model")
	require.Contains(t, namesIn(t, "sampling"), "model.safetensors")

	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	err = trainTo(ctx, out, "--out", "nothing")
	require.EqualError(t, err, "stopped after 0 of 2000 steps; resume with: attention train --resume nothing")
	require.Equal(t, filesWithoutModel, namesIn(t, "nothing"))
}

// TestTrainCannotWrite: a failure to print or to save is an error, and all other files are still saved.
func TestTrainCannotWrite(t *testing.T) {
	t.Chdir(t.TempDir())
	err := trainTo(t.Context(), commandtest.Full{}, "--steps", "2", "--out", "printing")
	require.EqualError(t, err, "printing: no space left")
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

// TestTrainFailsAfterCheckpoints: the error names the checkpoint from which the run can be resumed.
func TestTrainFailsAfterCheckpoints(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	checkpoints := filepath.Join(folder, settings.CheckpointsFolder)
	out := &doOnce{text: "  10  ",
		do: func() { require.NoError(t, os.Mkdir(filepath.Join(checkpoints, "step-00000010.safetensors"), 0o755)) }}
	err := trainTo(t.Context(), out, "--steps", "20", "--eval-every", "5", "--save-every", "5", "--out", folder)
	require.EqualError(t, err, "train: checkpoint after 10 steps: open "+
		filepath.Join(checkpoints, "step-00000010.safetensors")+": got a folder, want a regular file; resume from "+
		filepath.Join(checkpoints, "step-00000005.safetensors")+" with: attention train --resume "+folder)
}

// TestTrainDiverges: a run whose loss becomes NaN reports the reason and leaves no model.
func TestTrainDiverges(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "run")
	var out bytes.Buffer
	err := trainTo(t.Context(), &out, "--lr", "1e300", "--steps", "9", "--out", folder)
	require.ErrorContains(t, err, "not finite")
	require.ErrorContains(t, err, "; a smaller --lr may help; "+folder+" holds no model")
	require.Equal(t, filesWithoutModel, namesIn(t, folder))

	// Earlier checkpoints stay; in float64 the first update is still finite.
	folder = filepath.Join(dir, "saved")
	checkpoints := filepath.Join(folder, settings.CheckpointsFolder)
	err = trainTo(t.Context(), &out, "--lr", "1e300", "--steps", "9", "--dtype", "float64", "--save-every", "1",
		"--out", folder)
	require.ErrorContains(t, err, "train: step 2: loss: got NaN, which is not finite; it began with ")
	require.ErrorContains(t, err, "; a smaller --lr may help; the checkpoint before it is "+
		filepath.Join(checkpoints, "step-00000001.safetensors"))
	require.Equal(t, []string{"lock", "step-00000001.safetensors"}, namesIn(t, checkpoints))
	require.Equal(t, 1, term.ExitCode(err))
}
