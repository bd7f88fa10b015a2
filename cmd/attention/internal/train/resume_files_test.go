package train

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/term"
	"attention/internal/folder"
	"attention/internal/safetensors"
	"attention/internal/simd"
	"attention/internal/small"
	"attention/train/metrics"

	"github.com/stretchr/testify/require"
)

// TestTrainResumeRefuses: the command refuses to resume a folder without a run, a run with changed files, and flags
// that would change the run.
func TestTrainResumeRefuses(t *testing.T) {
	folder, _ := tinyRun(t)
	path := func(name ...string) string { return filepath.Join(append([]string{folder}, name...)...) }
	c, err := models.ReadConfig(folder, settings.Train)
	require.NoError(t, err)
	text := c.Text.Name
	const only = ", want only --text, --precision, --steps, --checkpoint-activations, --head-stats, --patience, " +
		"--min-delta, --save-every, --keep, --prompt, --sample: " +
		"the run's config.json has the rest"
	requireError := func(want string, args ...string) {
		before := contents(t, folder)
		err := trainTo(t.Context(), new(bytes.Buffer), append([]string{"--resume"}, args...)...)
		require.ErrorContains(t, err, want)
		require.Equal(t, term.OneLine(err), err.Error())
		require.Equal(t, before, contents(t, folder))
	}
	requireError("--resume: got nothing, want the folder", "")
	requireError("--width: got it beside --resume"+only, folder, "--width", "8")
	requireError("--out: got it beside --resume"+only, folder, "--out", "x")
	requireError("--steps: got 0, want at least 1", folder, "--steps", "0")
	requireError("--keep: got 0, want at least 1", folder, "--keep", "0")
	requireError("--steps: got 11, want at least the 12 that the run has taken", folder, "--steps", "11")
	requireError("--prompt: text: got 'é' at position 0, want one of the vocabulary's 28 characters",
		folder, "--prompt", "é")
	requireError("--resume: stat "+path("nothere")+": no such file or directory, want the folder of a run",
		path("nothere"))
	requireError("--resume: "+text+": got a file, want the folder of a model", text)

	// Files that the test changes, one at a time.
	spoil := func(name string, change func(string) string, want string, args ...string) {
		good, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(name, []byte(change(string(good))), 0o644))
		requireError(want, append([]string{folder}, args...)...)
		require.NoError(t, os.WriteFile(name, good, 0o644))
	}
	replace := func(old, new string) func(string) string {
		return func(s string) string { return strings.Replace(s, old, new, 1) }
	}
	cut := func(s string) string { return s[:len(s)/2] }
	config, checkpoint := path(settings.ConfigFile), path(settings.CheckpointsFolder, "step-00000012.safetensors")
	spoil(config, cut, "--resume: "+config+": not JSON: unexpected end of JSON input, want one JSON object")
	spoil(config, replace(`"batch": 3`, `"batch": 3, "batch": 3`), "--resume: "+config+`: field "batch" comes twice`)
	spoil(config, replace(`"tokens": 40`, `"tokens": -1`), "--resume: "+config+": sample.tokens: got -1, want at least 0")
	spoil(config, replace("batch", "bunch"), "--resume: "+config+`: unknown field "bunch"; it has format, text, `)
	spoil(config, replace(`"float32"`, `"float16"`), "--resume: "+config+`: dtype: got "float16", want`)
	spoil(config, replace(`"num_heads": 2`, `"num_heads": 4`), `model.attention.num_heads: got "2", want the loop's "4"`)
	spoil(config, replace(`"embed_dim": 8`, `"embed_dim": 9`),
		"--resume: "+config+": model.attention.num_heads: got 2, want a divisor of model.embed_dim=9")
	spoil(config, replace(`"name": "adamw"`, `"name": "adam"`), "solver: got adamw(")
	spoil(text, replace("quick", "quack"), "--text: "+text+": got a text with SHA-256 ")
	spoil(path(metrics.FileName), replace(`{"step":7,`, `{"step":8,`),
		path(metrics.FileName)+`: line 8: got "{\"step\":8,`)
	spoil(path(metrics.FileName), cut, ": line 8: got ")
	spoil(path(metrics.FileName), replace(`"loss":3.`, `"loss":2.`),
		"--resume: "+path(metrics.FileName)+": damaged: the lines of the first 12 steps: got numbers with SHA-256 ")
	spoil(checkpoint, cut, "--resume: train: checkpoint: "+checkpoint+": damaged: ")

	moved := filepath.Join(t.TempDir(), "moved")
	require.NoError(t, os.Rename(text, moved))
	requireError("--text: "+text+": no such file or directory, want a text file; "+
		"if it has moved, give its path with --text", folder)
	resume(t, folder, "--text", moved)
	resume(t, folder)
}

// At its end a run names the files that were removed from its folder during the training, and still saves its model.
func TestTrainSaysWhatWasRemoved(t *testing.T) {
	dir := t.TempDir()
	text, folder := filepath.Join(dir, "text.txt"), filepath.Join(dir, "run")
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	lines, config := filepath.Join(folder, metrics.FileName), filepath.Join(folder, settings.ConfigFile)
	out := &doOnce{text: "losses in nats per", do: func() {
		require.NoError(t, os.Remove(lines))
		require.NoError(t, os.Remove(config))
	}}
	err := trainTo(t.Context(), out, tinyFlags(text, folder)...)
	require.ErrorContains(t, err, "train: metrics: "+lines+": got none or another file, want the one")
	require.ErrorContains(t, err, "; train: "+config+": got none, want the one that the run began with")
	require.Equal(t, term.OneLine(err), err.Error())
	require.FileExists(t, filepath.Join(folder, settings.ModelFile))
	_, err = models.ReadConfig(folder, settings.Train)
	require.NoError(t, err)
}

// TestTrainResumesFromAnOlderCheckpoint: if the newest checkpoint is damaged, the command in the error resumes from an
// older one.
func TestTrainResumesFromAnOlderCheckpoint(t *testing.T) {
	folder, _ := tinyRun(t, "--save-every", "5", "--keep", "3", "--dropout", "0.2")
	want := outcome(t, folder)
	newest := filepath.Join(folder, settings.CheckpointsFolder, "step-00000012.safetensors")
	content, err := os.ReadFile(newest)
	require.NoError(t, err)
	content[len(content)/3] ^= 1
	require.NoError(t, os.WriteFile(newest, content, 0o644))
	err = trainTo(t.Context(), new(bytes.Buffer), "--resume", folder)
	older := filepath.Join(folder, settings.CheckpointsFolder, "step-00000010.safetensors")
	require.ErrorContains(t, err, "; the newest intact checkpoint is "+older+
		"; resume from it with: attention train --resume "+older)
	require.Equal(t, 1, term.ExitCode(err))
	require.Contains(t, resume(t, older), "2 steps in ")
	require.Equal(t, want, outcome(t, folder))
}

// TestTrainResumesWithOtherKernels: a line says that bits may differ if other kernels wrote the checkpoint, and only
// then.
func TestTrainResumesWithOtherKernels(t *testing.T) {
	folderOf, _ := tinyRun(t, "--save-every", "5", "--keep", "3")
	checkpoint := filepath.Join(folderOf, settings.CheckpointsFolder, "step-00000010.safetensors")
	require.NotContains(t, resume(t, checkpoint), "checkpoint was")
	f, err := safetensors.ReadFile(checkpoint)
	require.NoError(t, err)
	small.SetState(f, "kernels", `"neon\u001b"`)
	require.NoError(t, folder.WriteFile(checkpoint, func(w io.Writer) error { return safetensors.WriteSealed(w, f) }))
	note := "attention: --resume: the checkpoint was written with the kernels \"neon\\x1b\", not \"" +
		simd.InstructionSet() + "\": " +
		"bits may differ from those of a run that never stopped\n"
	require.Contains(t, resume(t, checkpoint), note)
}

// TestTrainRecordsKernels: config.json names the kernels that trained last. Only resuming updates this name.
func TestTrainRecordsKernels(t *testing.T) {
	folder, printed := tinyRun(t)
	line := "\nkernels   " + simd.InstructionSet() + ", "
	require.Contains(t, printed, line)
	path := filepath.Join(folder, settings.ConfigFile)
	config, err := os.ReadFile(path)
	require.NoError(t, err)
	own := fmt.Sprintf("\"kernels\": %q", simd.InstructionSet())
	require.Equal(t, 1, strings.Count(string(config), own))
	other := strings.Replace(string(config), own, `"kernels": "sve"`, 1)
	require.NoError(t, os.WriteFile(path, []byte(other), 0o644))
	require.Contains(t, resume(t, folder), line)
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(config), string(again))
	report, err := session.ReadReport(folder)
	require.NoError(t, err)
	for _, s := range report.Sessions {
		require.Regexp(t, "^"+simd.InstructionSet()+`, \S+ GFLOP/s in float32 on \d+ cores?`, s.Kernels)
	}
}

// A run whose checkpoints are lost does not start over and overwrite what it has learnt.
func TestResumeWithoutCheckpointsIsRefused(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	_, err := commandtest.Output(t.Context(), New(), "--width", "8", "--heads", "2", "--context", "8", "--steps", "4",
		"--sample", "0", "--out", out)
	require.NoError(t, err)
	lines, err := os.ReadFile(filepath.Join(out, metrics.FileName))
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(filepath.Join(out, "checkpoints")))
	_, err = commandtest.Output(t.Context(), New(), "--resume", out, "--steps", "6")
	require.EqualError(t, err, "--resume: "+out+
		": got no checkpoint of a run that has taken 4 steps, want one; start again with --config "+
		filepath.Join(out, settings.ConfigFile))
	after, err := os.ReadFile(filepath.Join(out, metrics.FileName))
	require.NoError(t, err)
	require.Equal(t, lines, after)
}

// Values that the steps depend on cannot be edited under a checkpoint.
func TestResumeWithAnotherConfigIsRefused(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	_, err := commandtest.Output(t.Context(), New(), "--width", "8", "--heads", "2", "--context", "8", "--steps", "4",
		"--sample", "0", "--out", out)
	require.NoError(t, err)
	path := filepath.Join(out, settings.ConfigFile)
	config, err := os.ReadFile(path)
	require.NoError(t, err)
	edited := strings.Replace(string(config), `"clip_norm": 1`, `"clip_norm": 2`, 1)
	require.NotEqual(t, string(config), edited)
	require.NoError(t, os.WriteFile(path, []byte(edited), 0o644))
	_, err = commandtest.Output(t.Context(), New(), "--resume", out, "--steps", "6")
	require.ErrorContains(t, err, `training.clip_norm: got "1", want the loop's "2"`)
}
