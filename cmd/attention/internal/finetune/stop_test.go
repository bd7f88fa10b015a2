package finetune

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/term"

	"github.com/stretchr/testify/require"
)

// stopper ends a context as soon as a text is written to it.
type stopper struct {
	bytes.Buffer
	at   string
	stop func()
}

func (s *stopper) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(s.at)) {
		s.stop()
	}
	return s.Buffer.Write(p)
}

// Blocks that are computed again change no bit.
func TestCheckpointedBlocks(t *testing.T) {
	_, flags := files(t, "--steps", "3", "--eval-every", "0", "--lora-dropout", "0.1", "--whole", "norm")
	flags = slices.Clip(flags)
	kept, again := filepath.Join(t.TempDir(), "kept"), filepath.Join(t.TempDir(), "again")
	_, err := tune(t, append(flags, "--out", kept)...)
	require.NoError(t, err)
	_, err = tune(t, append(flags, "--out", again, "--checkpoint-activations")...)
	require.NoError(t, err)
	requireSameRun(t, kept, again)
}

// A run that is stopped resumes to the bits of an uninterrupted run, even if its base has moved, but not from other
// files.
func TestStoppedRunsResume(t *testing.T) {
	base, flags := files(t, "--steps", "12", "--eval-every", "3", "--lora-dropout", "0.1")
	whole, stopped := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "stopped")
	_, err := tune(t, append(flags, "--out", whole)...)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &stopper{at: "     6  ", stop: cancel}
	err = commandtest.Run(ctx, out, out, New(), append(flags, "--out", stopped)...)
	require.True(t, term.IsInterrupted(err), "%v: %s", err, out.String())
	require.ErrorContains(t, err, "stopped after 6 of 12 steps; resume with: ")

	in, err := models.Inspect(stopped)
	require.NoError(t, err)
	m, err := in.Open()
	require.NoError(t, err)
	require.Contains(t, m.Notes[0], "the run is not finished: the weights are those of ")
	moved := filepath.Join(t.TempDir(), "moved")
	require.NoError(t, os.Rename(base, moved))
	_, err = tune(t, "--resume", stopped)
	require.ErrorContains(t, err, "if the base has moved, give its path with --base")
	require.NotContains(t, err.Error(), "\n")
	_, err = tune(t, "--resume", stopped, "--base", commandtest.SmallLlama(t), "--data", filepath.Join(t.TempDir(),
		"none.jsonl"))
	require.ErrorContains(t, err, "--data: ")
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.CopyFS(other, os.DirFS(moved)))
	config, err := os.ReadFile(filepath.Join(other, "config.json"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(other, "config.json"), append(config, '\n'), 0o644))
	_, err = tune(t, "--resume", stopped, "--base", other)
	require.ErrorContains(t, err, "those that the run began with")
	changed := filepath.Join(t.TempDir(), "train.jsonl")
	require.NoError(t, os.WriteFile(changed, []byte(`{"text": "the cat"}`), 0o644))
	_, err = tune(t, "--resume", stopped, "--base", moved, "--data", changed)
	require.ErrorContains(t, err, "those that the run began with")

	_, err = tune(t, "--resume", stopped, "--base", moved)
	require.NoError(t, err)
	want, err := os.ReadFile(filepath.Join(whole, settings.ModelFile))
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(stopped, settings.ModelFile))
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// TestStoppedLastAnswers: a run that is stopped while it prints its last answers counts as finished: the model is
// complete, and one line names its path.
func TestStoppedLastAnswers(t *testing.T) {
	_, flags := files(t, "--steps", "2", "--eval-every", "0")
	dir := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &stopper{at: " steps in ", stop: cancel}
	err := commandtest.Run(ctx, out, out, New(), append(flags, "--out", dir)...)
	require.True(t, term.IsInterrupted(err), "%v: %s", err, out.String())
	require.ErrorContains(t, err, "interrupted before the last answers; "+dir+" holds the model")
	state, wrong, _, err := session.StateOf(dir)
	require.NoError(t, err)
	require.Empty(t, wrong)
	require.Equal(t, session.Finished, state)
	in, err := models.Inspect(dir)
	require.NoError(t, err)
	m, err := in.Open()
	require.NoError(t, err)
	require.Empty(t, m.Notes)
}

// TestDataReplaced: if a data file is replaced during a run, by one of any length, the run ends with an error that
// names the file.
func TestDataReplaced(t *testing.T) {
	for _, name := range []string{"train.jsonl", "valid.jsonl"} {
		for _, content := range []string{"", `{"prompt": "cat 1", "completion": "mat 1"}`, strings.Repeat("x", 4000),
			strings.Repeat(`{"prompt": "a", "completion": "b"}`+"\n", 30)} {
			_, flags := files(t, "--steps", "200", "--eval-every", "10")
			path := filepath.Join(flags[slices.Index(flags, "--data")+1], name)
			out := &stopper{at: "    10  ", stop: func() {
				require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
			}}
			err := commandtest.Run(t.Context(), out, out, New(), append(flags, "--out", filepath.Join(t.TempDir(), "run"))...)
			require.ErrorContains(t, err, path+": line ")
			require.ErrorContains(t, err, "was the file changed?")
		}
	}
}
