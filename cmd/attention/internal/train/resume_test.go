package train

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"
	"attention/cmd/attention/internal/view/live"
	"attention/train/checkpoint"
	"attention/train/metrics"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// stopAfter runs attention train until the validation after the given number of steps, and stops it.
func stopAfter(t *testing.T, steps int, args ...string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := trainTo(ctx, &doOnce{text: fmt.Sprintf("%4d  ", steps), do: cancel}, args...)
	require.True(t, term.IsInterrupted(err))
	require.ErrorContains(t, err, fmt.Sprintf("stopped after %d of ", steps))
}

// resume resumes a run to its end and returns its output.
func resume(t *testing.T, args ...string) string {
	var out bytes.Buffer
	require.NoError(t, trainTo(t.Context(), &out, append([]string{"--resume"}, args...)...))
	return out.String()
}

// TestTrainResumes: a run that was stopped twice ends like one that was not, with every
// solver and in both orders.
func TestTrainResumes(t *testing.T) {
	for _, c := range []struct{ name, flags, prints string }{
		{name: "sgd", flags: "--solver sgd --order sequential"},
		{name: "momentum", flags: "--solver sgd --momentum 0.9 --weight-decay 0.1"},
		{name: "adam", flags: "--solver adam --beta1 0.8 --weight-decay 0.1 --order sequential"},
		{name: "adamw", flags: "--solver adamw --beta2 0.95 --weight-decay 0.1"},
		{name: "frozen", flags: "--freeze positions --freeze W_* --group output:lr_factor=3,weight_decay=0.1 --best"},
		{name: "heads", flags: "--layer multi_head --head-stats"},
		{name: "blocks", flags: "--model gpt --layers 3 --checkpoint-activations --head-stats"},
		{name: "growth", flags: "--model gpt --layers 2 --context-growth 2:1 --context-growth 4:6 --context 8",
			prints: "of 9 windows of 8 characters\n          first 1 step of windows of 2, 6 steps of windows of 4,"},
		{name: "growth of sparse attention", flags: "--model gpt --layers 2 --attention moba --full-attention-every 2 " +
			"--context-growth 4:7 --context 8", prints: "first 7 steps of windows of 4,"},
		{name: "growth of a layer", flags: "--layer causal --context-growth 4:7 --context 8",
			prints: "first 7 steps of windows of 4,"},
		{name: "additive", flags: "--layer additive --dropout 0 --context 5 --prompt whole"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.name != "frozen" && c.name != "blocks" {
				t.Skip("-short leaves out the other solvers, layers and orders")
			}
			dir := t.TempDir()
			text, calm, folder := filepath.Join(dir, "text"), filepath.Join(dir, "calm/run"), filepath.Join(dir, "stopped/run")
			require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
			run := func(folder string) []string {
				return append(append(tinyFlags(text, folder),
					strings.Fields("--dropout 0.3 --accumulate 3 --keep 1 --clip 0.5")...), strings.Fields(c.flags)...)
			}
			var out bytes.Buffer
			require.NoError(t, trainTo(t.Context(), &out, run(calm)...))
			require.Contains(t, out.String(), c.prints)
			stopAfter(t, 5, run(folder)...)
			stopAfter(t, 10, "--resume", folder)
			printed := resume(t, folder)
			requireSameOutcome(t, calm, folder)
			require.Contains(t, printed, "2 steps in ")
			require.Equal(t, sampled(t, out.String()), sampled(t, printed))
			before := outcome(t, folder)
			require.Contains(t, resume(t, folder), "0 steps in ", "all that is left is to draw the pictures again")
			require.Equal(t, before, outcome(t, folder))
		})
	}
}

// TestTrainLengthens: a run resumes for more steps if its schedule covers them.
func TestTrainLengthens(t *testing.T) {
	calm, _ := tinyRun(t, "--steps", "20", "--dropout", "0.3", "--keep", "1")
	folder, _ := tinyRun(t, "--steps", "10", "--dropout", "0.3", "--decay-steps", "20", "--save-every", "7")
	for _, left := range []string{".tmp-loss.png1", "checkpoints/.tmp-step-00000011.safetensors2"} { // by a kill
		require.NoError(t, os.WriteFile(filepath.Join(folder, left), nil, 0o644))
	}
	printed := resume(t, folder, "--steps", "20", "--keep", "1", "--save-every", "500", "--sample", "0")
	require.Contains(t, printed, "training  20 steps of 3 windows")
	want, got := outcome(t, calm), outcome(t, folder)
	for _, name := range []string{"model.safetensors", metrics.FileName, "attention.png", "loss.png"} {
		require.True(t, want[name] == got[name], name)
	}
	require.Equal(t, runFiles, namesIn(t, folder))
	c, err := models.ReadConfig(folder, settings.Train)
	require.NoError(t, err)
	require.Equal(t, 20, c.Training.Steps)
	require.Equal(t, settings.SampleConfig{}, c.Sample)
	require.Equal(t, checkpoint.Config{Every: 500, Keep: 1}, c.Checkpoints)
	require.Equal(t, []string{"lock", "step-00000020.safetensors"},
		namesIn(t, filepath.Join(folder, settings.CheckpointsFolder)))

	err = trainTo(t.Context(), new(bytes.Buffer), "--resume", folder, "--steps", "19")
	require.EqualError(t, err, "--steps: got 19, want at least the 20 that the run has taken")
}

// killBeforeCheckpoint reduces a run to its files before its first checkpoint.
func killBeforeCheckpoint(t *testing.T, folder string) {
	checkpoints, err := filepath.Glob(filepath.Join(folder, settings.CheckpointsFolder, "step-*"))
	require.NoError(t, err)
	require.Len(t, checkpoints, 1)
	require.NoError(t, os.Remove(checkpoints[0]))
	require.NoError(t, os.Remove(filepath.Join(folder, settings.ModelFile)))
}

// TestTrainResumeWithoutCheckpoint: a run that was killed before its first checkpoint
// starts over with the same initial weights.
func TestTrainResumeWithoutCheckpoint(t *testing.T) {
	other, _ := tinyRun(t, "--seed", "5")
	init := filepath.Join(other, "model.safetensors")
	calm, printed := tinyRun(t, "--init", init)
	require.Contains(t, printed, "          begins with the weights of "+init+"\n")
	folder, _ := tinyRun(t, "--init", init)
	killBeforeCheckpoint(t, folder)
	resume(t, folder)
	want, got := outcome(t, calm), outcome(t, folder)
	delete(want, settings.ConfigFile) // their texts have other names
	delete(got, settings.ConfigFile)
	require.Equal(t, want, got)

	killBeforeCheckpoint(t, folder)
	changed, err := os.ReadFile(init)
	require.NoError(t, err)
	changed[len(changed)-1] ^= 1
	require.NoError(t, os.WriteFile(init, changed, 0o644))
	err = trainTo(t.Context(), new(bytes.Buffer), "--resume", folder)
	require.ErrorContains(t, err, "--resume: --init: train: parameters: "+init+": damaged: checksum: got ")
	third, _ := tinyRun(t, "--seed", "6")
	require.NoError(t, os.Rename(filepath.Join(third, "model.safetensors"), init))
	err = trainTo(t.Context(), new(bytes.Buffer), "--resume", folder)
	require.ErrorContains(t, err, "--resume: --init: "+init+": got weights with SHA-256 ")
}

// TestTrainStopsWhenItsMetricsFail: no checkpoint is newer than the lines of its steps.
func TestTrainStopsWhenItsMetricsFail(t *testing.T) {
	folder, _ := tinyRun(t, "--save-every", "5", "--keep", "3")
	want := outcome(t, folder)
	set := pflag.NewFlagSet("train", pflag.ContinueOnError)
	settings.AddFlags(set, settings.Train)
	r, err := command{live.Command{Out: io.Discard, Flags: set, Page: new(live.Page)}}.oldRun(folder)
	require.NoError(t, err)
	at5 := filepath.Join(folder, settings.CheckpointsFolder, "step-00000005.safetensors")
	require.NoError(t, r.Resume(folder, at5, io.Discard))
	f := r.Folder
	for _, steps := range []int{10, 12} {
		require.NoError(t, os.Remove(f.Checkpoints.Path(steps)))
	}
	require.NoError(t, f.Metrics.Close())
	err = r.run(t.Context())
	require.ErrorIs(t, err, os.ErrClosed)
	require.ErrorContains(t, err, "train: checkpoint after 5 steps: train: metrics: sync ")
	require.ErrorContains(t, err, "; resume from "+f.Checkpoints.Path(5)+" with: attention train --resume "+folder)
	require.Equal(t, []string{"lock", "step-00000005.safetensors"},
		namesIn(t, filepath.Join(folder, settings.CheckpointsFolder)))
	resume(t, folder)
	require.Equal(t, want, outcome(t, folder))
}

// The checkpoints of blocks may be turned on or off when a run resumes: its bits stay.
func TestTrainResumesWithOtherCheckpointsOfBlocks(t *testing.T) {
	flags := append(tinyGPT, "--layers", "3", "--dropout", "0.3", "--accumulate", "3", "--keep", "1")
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	ends := map[string]string{}
	for _, c := range []struct{ name, first, then string }{
		{name: "off", first: "=false", then: "=false"},
		{name: "on", first: "=true", then: "=true"},
		{name: "off, then on", first: "=false", then: "=true"},
		{name: "on, then off", first: "=true", then: "=false"},
	} {
		folder := filepath.Join(t.TempDir(), "run")
		const flag = "--checkpoint-activations"
		stopAfter(t, 5, append(append(tinyFlags(text, folder), flags...), flag+c.first)...)
		resume(t, folder, flag+c.then)
		got := outcome(t, folder)
		for _, name := range []string{settings.ModelFile, metrics.FileName} {
			require.NotEmpty(t, got[name])
			if ends[name] == "" {
				ends[name] = got[name]
			}
			require.True(t, ends[name] == got[name], "%s: %s", c.name, name)
		}
	}
}
