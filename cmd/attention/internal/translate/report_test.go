package translate

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/train/tasks/dates"

	"github.com/stretchr/testify/require"
)

// TestReport: report.json describes each session, and attention runs can read it.
func TestReport(t *testing.T) {
	begin := commandtest.SetClock(t)
	t.Chdir(t.TempDir())
	flags := strings.Fields("--steps 105 --batch 100 --width 6 --heads 2 --out dates --date 1.2.2003")
	require.Error(t, stopped(t, "   100 ", append(flags, "--date", "may 1, 1999")...))
	var out bytes.Buffer
	require.NoError(t, printTo(t.Context(), &out, "--resume", "dates"))

	s, err := session.Summarize("dates")
	require.NoError(t, err)
	exact := regexp.MustCompile(`\n5 steps in 1\.0 s\. .* (\d+) of 2000\n`).FindStringSubmatch(out.String())
	require.NotNil(t, exact, out.String())
	drawn := regexp.MustCompile(`write\n(\S+) for "(.+)"\n`).FindStringSubmatch(out.String())
	require.NotNil(t, drawn, out.String())
	require.Equal(t, []any{"dates 1950 to 2049 in 10 styles: 34525 to learn from, 2000 held out",
		"dates, width 6, 2 heads, blocks 1 + 1", settings.DatesModel, session.Finished, 105, 105, 2.0, begin},
		[]any{s.Text, s.Model, s.Title, s.State, s.Steps, s.Planned, *s.Seconds, *s.Begin})
	require.Regexp(t, regexp.QuoteMeta(s.Model[len("dates, "):])+`: \d+ parameters\n`, out.String())
	require.Contains(t, out.String(), fmt.Sprintf("   105  %8.4f  %8.4f\n", *s.Losses.Training, *s.Losses.Validation))
	require.Equal(t, exact[1], fmt.Sprintf("%.0f", *s.ExactMatch*2000))
	require.Greater(t, s.Parameters, 1000)
	for i := range s.Sessions {
		require.NotEmpty(t, s.Sessions[i].Program)
		require.Contains(t, s.Sessions[i].Kernels, " GFLOP/s in float32 on ")
		s.Sessions[i].Program, s.Sessions[i].Kernels = "", ""
	}
	require.Equal(t, []session.SessionReport{
		{Begin: begin, End: begin.Add(2 * time.Second), State: session.Stopped, Command: "attention translate --steps 105 " +
			"--batch 100 --width 6 --heads 2 --out dates --date 1.2.2003 --date 'may 1, 1999'", To: 100, Seconds: 1},
		{Begin: begin.Add(3 * time.Second), End: begin.Add(7 * time.Second), State: session.Finished,
			Command: "attention translate --resume dates", From: 100, To: 105, Seconds: 1,
			Sample: &session.Sample{Prompt: drawn[2], Text: drawn[1]}},
	}, s.Sessions)
}

// The report of a failed run says so. A damaged report is replaced only with a message.
func TestReportOfFailures(t *testing.T) {
	t.Chdir(t.TempDir())
	fail := stopAt{"     3 ", func() { require.NoError(t, os.Mkdir("dates/model.safetensors", 0o755)) }}
	err := printTo(t.Context(), fail, append(tinyTranslate("1"), "--out", "dates")...)
	const failed = "train: dates/model.safetensors: got a folder, want a regular file; " +
		"resume from dates/checkpoints/step-00000003.safetensors with: attention translate --resume dates"
	require.EqualError(t, err, failed)
	require.NoError(t, os.Remove("dates/model.safetensors"))
	r, err := session.ReadReport("dates")
	require.NoError(t, err)
	require.Equal(t, session.Failed, r.Sessions[0].State)
	require.Equal(t, failed, r.Sessions[0].Error)
	require.NoError(t, os.WriteFile("dates/report.json", []byte("{"), 0o644))
	require.EqualError(t, printTo(t.Context(), io.Discard, "--resume", "dates"),
		"--resume: dates/report.json: not JSON: unexpected end of JSON input, want one JSON object; "+
			"without this file the run resumes too")
	require.NoError(t, os.Remove("dates/report.json"))
	require.NoError(t, printTo(t.Context(), io.Discard, "--resume", "dates"))
}

// Every character has its label.
func TestCrossPicture(t *testing.T) {
	weights := make([]float64, dates.ISOLength*4)
	p := crossPicture("title", dates.Pair{Written: "1 .2", ISO: "2003-02-01"}, [][]float64{weights, weights})
	require.Len(t, p.Maps, 2)
	require.Equal(t, "head 1", p.Maps[1].Title)
	require.Equal(t, []string{"1", "·", ".", "2"}, p.Maps[1].Columns)
	require.Len(t, p.Maps[1].Rows, dates.ISOLength)
	require.Equal(t, "2003-02-01", strings.Join(p.Maps[1].Rows, ""))
}
