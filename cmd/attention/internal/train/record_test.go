package train

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/train/metrics"
	"attention/train/record"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// A run records its weights and the attention in a text, and with --head-stats statistics of its heads, and draws them.
func TestTrainRecords(t *testing.T) {
	folder, printed := tinyRun(t, append(tinyGPT, "--head-stats", "--prompt", "whole")...)
	w, err := record.Read(t.Context(), folder, nil)
	require.NoError(t, err)
	require.Equal(t, []int{0, 5, 10, 12}, w.Steps)
	require.Len(t, w.Records, 4)
	for i, r := range w.Records {
		require.Len(t, r.Numbers, 4)
		require.Len(t, r.Numbers["entropy.transformer.h.1.attn"], 2)
		for _, p := range r.Params {
			require.Equal(t, i > 0, p.ChangeFromStart > 0, p.Name)
		}
	}
	require.Equal(t, tensor.Shape{4, 2, 6, 6}, w.Probe["transformer.h.0.attn"].Shape())
	require.Equal(t, tensor.Shape{4, 8, 8}, w.Matrices["transformer.h.1.attn.c_attn.weight"].Shape(), "the queries'")
	const attention = "transformer.h.0.attn"
	about, err := text.ReadWeightTexts(w.Notes[attention], w.Probe[attention].Shape())
	require.NoError(t, err)
	require.True(t, about.Causal)
	require.NotContains(t, strings.Join(about.Queries, ""), "whole", "the prompt may change when the run resumes")
	for _, step := range []string{"   0", "   5", "  10", "  12"} {
		require.Regexp(t, `(?m)^`+step+`  entropy [0-9.]+ nats \(h\.\d\.attn, head \d\) to `, printed)
	}
	require.NotContains(t, printed, "collapsed")

	plain, _ := tinyRun(t, tinyGPT...)
	watched, _ := tinyRun(t, append(tinyGPT, "--head-stats")...)
	for _, name := range []string{metrics.FileName, settings.ModelFile, record.TensorsFile} {
		require.Equal(t, outcome(t, plain)[name], outcome(t, watched)[name], "statistics change no bit")
	}
}

// A run without a recording begins one when it is resumed. A damaged recording is refused.
func TestTrainResumesWithoutRecords(t *testing.T) {
	calm, _ := tinyRun(t, "--steps", "20")
	folder, _ := tinyRun(t, "--steps", "10", "--decay-steps", "20")
	path := filepath.Join(folder, record.TensorsFile)
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o644))
	err := trainTo(t.Context(), new(bytes.Buffer), "--resume", folder, "--steps", "20")
	require.ErrorContains(t, err, path+": damaged: ")
	require.ErrorContains(t, err, "; without this file the run resumes too")
	for _, name := range []string{record.LinesFile, record.TensorsFile, session.WeightsPicture, session.StepsPicture} {
		require.NoError(t, os.Remove(filepath.Join(folder, name)))
	}
	resume(t, folder, "--steps", "20")
	require.Equal(t, runFiles, namesIn(t, folder))
	require.Equal(t, outcome(t, calm)[settings.ModelFile], outcome(t, folder)[settings.ModelFile])
	w, err := record.Read(t.Context(), folder, nil)
	require.NoError(t, err)
	require.Equal(t, []int{15, 20}, w.Steps)
}
