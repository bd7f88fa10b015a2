package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/run"
	"attention/layers"
	"attention/train"

	"github.com/stretchr/testify/require"
)

// A run that is not finished goes on with a text by its newest checkpoint.
func TestGenerateFromUnfinishedRuns(t *testing.T) {
	for _, flags := range [][]string{tinyGPT, {"--layer", layers.Additive}} {
		dir, _ := tinyRun(t, append(flags, "--save-every", "5", "--keep", "3", "--dtype", "float64")...)
		args := []string{"--model", dir, "--prompt", "the qu", "--tokens", "30"}
		want := mustGenerate(t, args...)
		require.NoError(t, os.Remove(filepath.Join(dir, run.ModelFile)))
		newest := filepath.Join(dir, run.CheckpointsFolder, "step-00000012.safetensors")
		text, notes, err := generated(context.Background(), args...)
		require.NoError(t, err)
		require.Equal(t, want, text)
		require.Equal(t, "attention: the run is not finished: the weights are those of "+newest+"\n", notes)

		config := filepath.Join(dir, run.ConfigFile)
		content, err := os.ReadFile(config)
		require.NoError(t, err)
		text = string(content)
		require.NoError(t, os.WriteFile(config, []byte(strings.Replace(text, `"batch": 3`, `"batch": 3, "batch": 4`, 1)), 0o644))
		_, _, err = generated(context.Background(), args...)
		require.EqualError(t, err, "--model: "+config+`: field "batch" comes twice`)
		require.NoError(t, os.WriteFile(config, []byte(text), 0o644))

		content, err = os.ReadFile(newest)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(newest, content[:len(content)-1], 0o644))
		older, notes, err := generated(context.Background(), args...)
		require.NoError(t, err)
		require.NotEqual(t, want, older)
		require.Contains(t, notes, "step-00000010.safetensors")
		for _, path := range run.Unfinished(dir) {
			require.NoError(t, os.WriteFile(path, nil, 0o644))
		}
		_, _, err = generated(context.Background(), args...)
		require.ErrorIs(t, err, train.ErrDamaged)
	}
}

// What needs the model of a run that is not finished says how to get one.
func TestUnfinishedRunsAreNoModels(t *testing.T) {
	dir, _ := tinyRun(t, tinyGPT...)
	model := filepath.Join(dir, run.ModelFile)
	want, err := os.ReadFile(model)
	require.NoError(t, err)
	require.NoError(t, os.Remove(model))
	said := dir + ": got a run that is not finished, want one that is; to end it where it stands: attention train --resume " + dir + " --steps 12"
	_, err = exported("--model", dir, "--format", "torch", "--out", filepath.Join(t.TempDir(), "out"))
	require.EqualError(t, err, "--model: "+said)
	require.EqualError(t, trainTo(t.Context(), io.Discard, "--init", dir), "--init: "+said)
	resume(t, dir, "--steps", "12")
	got, err := os.ReadFile(model)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// A run that has gone on since it wrote its model, and was killed then, is not finished.
func TestResumedRunsAreUnfinished(t *testing.T) {
	dir, _ := tinyRun(t, tinyGPT...)
	model := filepath.Join(dir, run.ModelFile)
	old, err := os.ReadFile(model)
	require.NoError(t, err)
	require.Empty(t, run.Unfinished(dir))
	resume(t, dir, "--steps", "20")
	args := []string{"--model", dir, "--prompt", "the qu", "--tokens", "30"}
	want := mustGenerate(t, args...)
	require.NoError(t, os.WriteFile(model, old, 0o644))
	text, notes, err := generated(context.Background(), args...)
	require.NoError(t, err)
	require.Equal(t, want, text)
	require.Contains(t, notes, "step-00000020.safetensors")
	_, err = exported("--model", dir, "--format", "torch", "--out", filepath.Join(t.TempDir(), "out"))
	require.ErrorContains(t, err, "got a run that is not finished")
}

// The sample that a run prints is what attention generate writes.
func TestGenerateGoesOnAsTheSample(t *testing.T) {
	for _, flags := range [][]string{tinyGPT, {"--layer", "causal"}} {
		dir, printed := tinyRun(t, append(flags, "--prompt", "the")...)
		require.Equal(t, sampled(t, printed), mustGenerate(t, "--model", dir, "--prompt", "the", "--tokens", "40", "--temperature", "1"))
	}
}
