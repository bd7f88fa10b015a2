package train

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
)

// TestReport: report.json describes each session, and has the final losses, sizes and sample.
func TestReport(t *testing.T) {
	begin := commandtest.SetClock(t)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("text", []byte(tinyText), 0o644))
	var out bytes.Buffer
	stopAfter(t, 5, append(tinyFlags("text", "-")[:16], "--qkv-bias", "--out", "a run")...)
	require.NoError(t, trainTo(t.Context(), &out, "--resume", "a run", "--prompt", "the quick"))

	r, err := session.ReadReport("a run")
	require.NoError(t, err)
	require.Equal(t, "text", r.Text)
	require.Equal(t, "multi_head, 2 heads, width 8", r.Model)
	require.Equal(t, 812, r.Parameters)
	c, err := models.ReadConfig("a run", settings.Train)
	require.NoError(t, err)
	require.Equal(t, []*float64{&c.NGram.Bigram, &c.NGram.Unigram}, []*float64{r.Losses.Bigram, r.Losses.Unigram})
	lines := metricLines(t, "a run")
	require.Equal(t, lines[len(lines)-1]["validation_loss"], *r.Losses.Validation)
	require.InDelta(t, 3.3322, *r.Losses.Uniform, 1e-4)
	require.Greater(t, *r.Losses.Training, 3.0)

	const version = "(devel)"
	for i := range r.Sessions {
		require.True(t, strings.HasPrefix(r.Sessions[i].Program, version), r.Sessions[i].Program)
		require.Contains(t, r.Sessions[i].Kernels, " GFLOP/s in float32 on ")
		r.Sessions[i].Program, r.Sessions[i].Kernels = "", ""
	}
	require.Equal(t, []session.SessionReport{
		{Begin: begin, End: begin.Add(2 * time.Second), State: session.Stopped,
			Command: "attention train --width 8 --heads 2 --context 6 --batch 3 --steps 12 --eval-every 5 --sample 40 " +
				"--text text --qkv-bias=true --out 'a run'", From: 0, To: 5, Seconds: 1},
		{Begin: begin.Add(3 * time.Second), End: begin.Add(5 * time.Second), State: session.Finished,
			Command: "attention train --resume 'a run' --prompt 'the quick'", From: 5, To: 12, Seconds: 1,
			Sample: &session.Sample{Prompt: "the quick", Text: sampled(t, out.String())}},
	}, r.Sessions)
	text, err := os.ReadFile("a run/report.json")
	require.NoError(t, err)
	require.Contains(t, string(text), `"begin": "2026-03-04T05:06:07Z"`)
}

// From the first step on, the report of a run says when and how the run began, and that it is training.
func TestReportOfARunningRun(t *testing.T) {
	begin := commandtest.SetClock(t)
	t.Chdir(t.TempDir())
	var running session.Summary
	var err error
	out := &doOnce{text: "   6  ", do: func() { running, err = session.Summarize("run") }}
	require.NoError(t, trainTo(t.Context(), out, strings.Fields(
		"--steps 9 --eval-every 3 --width 8 --context 6 --sample 0 --out run")...))
	require.NoError(t, err)
	require.Equal(t, []any{session.Running, 6, 9, settings.BuiltinName}, []any{running.State, running.Steps, running.Planned,
		running.Text})
	require.Equal(t, begin, *running.Begin)
	require.Equal(t, 1.0, *running.Seconds)
	require.NotNil(t, running.Losses.Training)
	require.NotNil(t, running.Losses.Bigram)
	require.Greater(t, running.Parameters, 0)
	require.Equal(t, "attention train --steps 9 --eval-every 3 --width 8 --context 6 --sample 0 --out run",
		running.Sessions[0].Command)
	require.True(t, running.Sessions[0].End.IsZero())
	finished, err := session.Summarize("run")
	require.NoError(t, err)
	require.Equal(t, session.Finished, finished.State)
	require.Len(t, finished.Sessions, 1)
}

// Equal runs differ only in report.json. A failed run has a report, too.
func TestReportOfFailures(t *testing.T) {
	commandtest.SetClock(t)
	dir := t.TempDir()
	require.Error(t, trainTo(t.Context(), io.Discard, "--lr", "1e300", "--steps", "9", "--out", dir))
	r, err := session.ReadReport(dir)
	require.NoError(t, err)
	require.Equal(t, session.Failed, r.Sessions[0].State)
	require.Contains(t, r.Sessions[0].Error, "not finite")
	require.Nil(t, r.Losses.Validation)
}

// A damaged report is replaced only with a message.
func TestReportDamaged(t *testing.T) {
	folder, _ := tinyRun(t)
	path := filepath.Join(folder, session.ReportFile)
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o644))
	err := trainTo(t.Context(), io.Discard, "--resume", folder, "--steps", "15")
	require.EqualError(t, err, "--resume: "+path+": not JSON: unexpected end of JSON input, want one JSON object; "+
		"without this file the run resumes too")
	require.NoError(t, os.Remove(path))
	require.NoError(t, trainTo(t.Context(), io.Discard, "--resume", folder, "--steps", "15"))
	r, err := session.ReadReport(folder)
	require.NoError(t, err)
	require.Len(t, r.Sessions, 1)
	require.Equal(t, []int{12, 15}, []int{r.Sessions[0].From, r.Sessions[0].To})
}

// The preset for a first try reaches a lower loss than a bigram model.
func TestTinyFallsBelowBigram(t *testing.T) {
	if !testenv.All {
		t.Skip("a whole run")
	}
	var out bytes.Buffer
	folder := filepath.Join(t.TempDir(), "run")
	require.NoError(t, trainTo(t.Context(), &out, "--preset", "tiny", "--sample", "0", "--out", folder))
	r, err := session.ReadReport(folder)
	require.NoError(t, err)
	require.Less(t, *r.Losses.Validation, *r.Losses.Bigram-0.15)
	require.Regexp(t, regexp.MustCompile(`\n500 steps in .*\n +training +validation +bigram +unigram +uniform\n`+
		`( +\d\.\d{4}){5}\nThat of validation .*\nThe validation loss is 0\.\d+ below the bigram's: `), out.String())
}

// A stopped run prints its losses, too.
func TestSummaryOfAStoppedRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := &doOnce{text: "validation  ", do: cancel}
	require.Error(t, trainTo(ctx, out, "--steps", "100", "--eval-every", "5", "--out", t.TempDir()))
	require.Regexp(t, `\n5 steps in .*\n +training +validation .*\n( +\d\.\d{4}){5}\n`+
		`The validation loss is not below .*\nfrom the characters before the last one\.\n\n`+
		`How far training moved the weights `, out.String())
}
