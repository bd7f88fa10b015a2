package translate

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/term"
	"attention/train/checkpoint"
	"attention/train/metrics"

	"github.com/stretchr/testify/require"
)

// stopAt is a writer that stops a context when the text is printed.
type stopAt struct {
	text string
	stop context.CancelFunc
}

func (w stopAt) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.text) {
		w.stop()
	}
	return len(p), nil
}

// stopped runs attention translate, interrupts it when it prints a given text, and returns its error.
func stopped(t *testing.T, text string, args ...string) error {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	return printTo(ctx, stopAt{text, stop}, args...)
}

// outcomes returns the files of a run that equal runs have alike.
func outcomes(t *testing.T, folder string) map[string]string {
	files := map[string]string{}
	for _, name := range []string{settings.ModelFile, settings.ConfigFile, session.AttentionPicture,
		"checkpoints/step-00000105.safetensors"} {
		content, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		files[name] = string(content)
	}
	lines, err := os.ReadFile(filepath.Join(folder, metrics.FileName))
	require.NoError(t, err)
	files[metrics.FileName] = regexp.MustCompile(`,"tokens_per_second":[^}]*`).ReplaceAllString(string(lines), "")
	return files
}

// TestTranslateResumes: a run that was interrupted during training and during translation ends with the bits of an
// uninterrupted one.
func TestTranslateResumes(t *testing.T) {
	t.Chdir(t.TempDir())
	flags := strings.Fields("--steps 105 --batch 100 --width 6 --heads 2 --seed 5 --out")
	var calm bytes.Buffer
	require.NoError(t, printTo(t.Context(), &calm, append(flags, "calm/run")...))

	err := stopped(t, "\n", append(flags, "stopped/run")...)
	require.EqualError(t, err, "stopped after 0 of 105 steps; "+
		"resume with: attention translate --resume stopped/run")
	require.Equal(t, 130, term.ExitCode(err))
	err = stopped(t, "   100 ", "--resume", "stopped/run") // printed before the checkpoint is saved
	require.EqualError(t, err, "stopped after 100 of 105 steps; "+
		"resume with: attention translate --resume stopped/run")
	require.NoFileExists(t, "stopped/run/model.safetensors")
	var notes bytes.Buffer
	require.NoError(t, commandtest.Run(t.Context(), io.Discard, &notes, New(),
		"--model", "stopped/run", "--date", "1.2.2003"))
	require.Equal(t, "stopped/run: a run that is not finished: the model is that after 100 of 105 steps\n",
		notes.String())
	err = stopped(t, "   105 ", "--resume", "stopped/run")
	require.EqualError(t, err, "stopped after 105 of 105 steps; "+
		"resume with: attention translate --resume stopped/run")

	var out bytes.Buffer
	require.NoError(t, printTo(t.Context(), &out, "--resume", "stopped/run"))
	require.Contains(t, out.String(), "          continues after 105 steps\n")
	require.Equal(t, outcomes(t, "calm/run"), outcomes(t, "stopped/run"))
	_, want, _ := strings.Cut(calm.String(), "of 2000\n")
	require.Contains(t, out.String(), strings.ReplaceAll(want, "calm", "stopped"))
}

// TestTranslateResumesCheckpoint: a damaged checkpoint is skipped, and the one before it leads to the same bits.
func TestTranslateResumesCheckpoint(t *testing.T) {
	t.Chdir(t.TempDir())
	flags := strings.Fields("--steps 105 --batch 100 --width 6 --heads 2 --out run")
	require.NoError(t, printTo(t.Context(), io.Discard, flags...))
	want := outcomes(t, "run")
	newest, older := "run/checkpoints/step-00000105.safetensors", "run/checkpoints/step-00000100.safetensors"
	require.NoError(t, os.Truncate(newest, 1000))
	err := printTo(t.Context(), io.Discard, "--resume", "run")
	require.ErrorIs(t, err, checkpoint.ErrDamaged)
	require.ErrorContains(t, err, "--resume: train: checkpoint: "+newest+": damaged: ")
	require.ErrorContains(t, err, "; resume from it with: attention translate --resume "+older)
	require.NoError(t, printTo(t.Context(), io.Discard, "--resume", older))
	require.Equal(t, want, outcomes(t, "run"))
}

// TestTranslateRefusesToResume lists folders in which no run can continue.
func TestTranslateRefusesToResume(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, printTo(t.Context(), io.Discard,
		strings.Fields("--steps 101 --batch 100 --width 6 --heads 2 --out run")...))
	good, err := os.ReadFile("run/config.json")
	require.NoError(t, err)
	for _, row := range []struct{ reason, old, new, want string }{
		{reason: "of another command", old: string(good), new: `{"format": 2, "vocabulary": {"tokenizer": "bytes"},
			"model": {"type": "gpt", "vocab_size": 256, "context_length": 4, "embed_dim": 4, "num_layers": 1, "num_heads": 1,
			"activation": "gelu", "eps": 1e-5}, "dtype": "float32"}`,
			want: "run: got a run of attention train, want one of attention translate; resume it with: " +
				"attention train --resume run"},
		{reason: "of another program", old: `"-0123456789"`, new: `"0123456789"`, want: "run/config.json: model: " +
			`got other characters than this program's, want " ',./0123456789abcdefghijklmnopqrstuvwxyz" and "-0123456789"`},
		{reason: "a wrong number", old: `"num_heads": 2`, new: `"num_heads": 4`,
			want: "run/config.json: model.num_heads: got 4, want a divisor of embed_dim=6"},
		{reason: "no number", old: `"batch": 100`, new: `"batch": "4"`,
			want: `run/config.json: batch: got "4", want a whole number`},
		{reason: "cut", old: string(good), new: `{"model"`, want: "run/config.json: not JSON: " +
			"unexpected end of JSON input, want one JSON object"},
		{reason: "another seed", old: `"seed": 1`, new: `"seed": 2`,
			want: `train: checkpoint: run/checkpoints/step-00000101.safetensors: config: got `},
	} {
		require.Contains(t, string(good), row.old, row.reason)
		changed := strings.Replace(string(good), row.old, row.new, 1)
		require.NoError(t, os.WriteFile("run/config.json", []byte(changed), 0o644))
		err := printTo(t.Context(), io.Discard, "--resume", "run")
		require.ErrorContains(t, err, "--resume: "+row.want, row.reason)
	}
	require.NoError(t, os.WriteFile("run/config.json", good, 0o644))
	for _, name := range []string{"100", "101"} {
		require.NoError(t, os.Remove("run/checkpoints/step-00000"+name+".safetensors"))
	}
	require.EqualError(t, printTo(t.Context(), io.Discard, "--resume", "run"),
		"--resume: run: got no checkpoint of a run that has taken 101 steps, want one")
}
