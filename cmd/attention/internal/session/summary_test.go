package session

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/settings"
	"attention/internal/golden"
	"attention/train/checkpoint"

	"attention/train/metrics"

	"github.com/stretchr/testify/require"
)

// The summary of a folder without report.json comes from its other files.
func TestSummarizeWithoutReport(t *testing.T) {
	runs, err := golden.Path("runs")
	require.NoError(t, err)
	for _, row := range []struct {
		folder, state, model string
		steps, planned       int
		validated            bool
	}{
		{folder: "finished_gpt", state: Finished, model: "gpt, 1 layer, 2 heads, width 8", steps: 12, planned: 12,
			validated: true},
		{folder: "gpt2_killed", state: unfinished, model: "gpt, 1 layer, 2 heads, width 4", steps: 1, planned: 20},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(runs, row.folder, "run"))))
		require.NoError(t, os.Remove(filepath.Join(dir, ReportFile)))
		s, err := Summarize(dir)
		require.NoError(t, err)
		require.Equal(t, []any{row.state, row.model, row.steps, row.planned, row.validated},
			[]any{s.State, s.Model, s.Steps, s.Planned, s.Losses.Validation != nil}, row.folder)
		require.NotNil(t, s.Losses.Training)
		require.Nil(t, s.Begin)
		require.Nil(t, s.Seconds)
	}
}

// folderWith returns a copy of an old run's folder with the report, and with more files.
func folderWith(t *testing.T, r Report, files map[string]string) string {
	from, err := golden.Path("runs/finished_gpt/run")
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, os.CopyFS(dir, os.DirFS(from)))
	text, err := json.Marshal(r)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, ReportFile), text, 0o644))
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	return dir
}

func TestSummarize(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	loss := 1.5
	r := Report{Text: "text.txt", Model: "gpt", Parameters: 7, Best: 3, Losses: Losses{Validation: &loss},
		Sessions: []SessionReport{
			{Begin: begin, State: Stopped, To: 5, Seconds: 2},
			{Begin: begin.Add(time.Hour), State: Finished, To: 12, Seconds: 3}}}
	dir := folderWith(t, r, nil)
	s, err := Summarize(dir)
	require.NoError(t, err)
	seconds := 5.0
	require.Equal(t, Summary{Folder: dir, Begin: &begin, Seconds: &seconds, State: Finished, Steps: 12, Planned: 12,
		Title: "gpt", Command: "train", Report: r}, s)

	// A later session did not end.
	r.Sessions = append(r.Sessions[:1], SessionReport{Begin: begin.Add(time.Hour), State: unfinished, From: 5, To: 5})
	s, err = Summarize(folderWith(t, r, nil))
	require.NoError(t, err)
	require.Equal(t, []any{unfinished, 12, 7, 2.0}, []any{s.State, s.Steps, s.Parameters, *s.Seconds})
	require.NotEqual(t, loss, *s.Losses.Validation)
	require.Zero(t, s.Best, "it was that of the last session's model")
}

// A session that did not end is training as long as it holds the folder; otherwise it was killed.
func TestSummarizeUnfinished(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	real := program.Now
	program.Now = func() time.Time { return now }
	t.Cleanup(func() { program.Now = real })
	open := SessionReport{Begin: now.Add(-time.Minute), State: unfinished, From: 5, To: 5}
	ended := SessionReport{Begin: now.Add(-time.Hour), State: Stopped, To: 5, Seconds: 2}
	for _, row := range []struct {
		reason          string
		sessions        []SessionReport
		killed, running float64
	}{
		{reason: "the first", sessions: []SessionReport{open}, killed: -1, running: 60},
		{reason: "a later one", sessions: []SessionReport{ended, open}, killed: 2, running: 62},
		{reason: "without a report", sessions: nil, killed: -1, running: -1},
	} {
		dir := folderWith(t, Report{Text: "text.txt", Model: "gpt", Sessions: row.sessions}, nil)
		require.NoError(t, os.Remove(filepath.Join(dir, settings.ModelFile)))
		check := func(state string, seconds float64) {
			s, err := Summarize(dir)
			require.NoError(t, err, row.reason)
			require.Equal(t, []any{state, 12}, []any{s.State, s.Steps}, row.reason)
			got := -1.0
			if s.Seconds != nil {
				got = *s.Seconds
			}
			require.Equal(t, seconds, got, row.reason)
		}
		check(unfinished, row.killed)
		f, err := OpenFolder(dir, checkpoint.Config{})
		require.NoError(t, err)
		check(Running, row.running)
		require.NoError(t, f.Close())
		check(unfinished, row.killed)
	}
}

// The config.json of a run of attention translate also says what the run should do.
func TestSummarizeDates(t *testing.T) {
	dir := folderWith(t, Report{}, map[string]string{
		settings.ConfigFile: `{"format": 2, "model": {"type": "dates", "embed_dim": 6, "num_heads": 2, "num_layers": 1,
			"written_characters": " ',./0123456789abcdefghijklmnopqrstuvwxyz", "iso_characters": "-0123456789"},
			"training": {"steps": 12}}`})
	s, err := Summarize(dir)
	require.NoError(t, err)
	require.Equal(t, []any{settings.DatesModel, "dates, width 6, 2 heads, blocks 1 + 1", 12, 12, Finished},
		[]any{s.Title, s.Model, s.Planned, s.Steps, s.State})
}

// A folder that is not a run's, or is damaged, is one error that names the file.
func TestSummarizeForeign(t *testing.T) {
	for _, row := range []struct {
		reason string
		files  map[string]string
		want   string
	}{
		{reason: "an export", files: map[string]string{settings.ConfigFile: `{"model_type": "gpt2"}`},
			want: "%s: got an exported model, want the folder of a run"},
		{reason: "a damaged config", files: map[string]string{settings.ConfigFile: `{"model"`},
			want: "%s/config.json: not JSON: unexpected end of JSON input, want one JSON object"},
		{reason: "a damaged report", files: map[string]string{ReportFile: `{"sessions": 1}`},
			want: "%s/report.json: sessions: got 1, want a list"},
	} {
		dir := folderWith(t, Report{}, row.files)
		_, err := Summarize(dir)
		require.Error(t, err, row.reason)
		require.Equal(t, row.want, "%s"+err.Error()[len(dir):], row.reason)
	}
	dir := t.TempDir()
	_, err := Summarize(dir)
	require.EqualError(t, err, dir+": got no config.json, want the folder of a run")
	require.NoError(t, os.Mkdir(filepath.Join(dir, settings.ConfigFile), 0o755))
	_, err = Summarize(dir)
	require.ErrorContains(t, err, "want a regular file")
}

// A line of metrics.jsonl that was cut by a kill does not count; one in the middle is damage.
func TestLossesOf(t *testing.T) {
	const lines = `{"step":1,"loss":4}
{"step":2,"loss":2}
{"step":2,"validation_loss":2.5}
`
	for _, row := range []struct{ reason, text, err string }{
		{reason: "whole", text: lines},
		{reason: "cut", text: lines + `{"step":3,"lo`},
		{reason: "damaged", text: lines + "{\n" + lines,
			err: `/metrics.jsonl: line 4: got "{\n", want a JSON object of numbers`},
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, metrics.FileName), []byte(row.text), 0o644))
		h, err := metrics.Read(dir)
		if row.err != "" {
			require.EqualError(t, err, dir+row.err)
			continue
		}
		require.NoError(t, err)
		l := lossesOf(h)
		require.Equal(t, []float64{2, 3, 2.5}, []float64{float64(len(h.Steps)), *l.Training, *l.Validation}, row.reason)
	}
	h, err := metrics.Read(t.TempDir())
	require.NoError(t, err)
	require.Empty(t, h.Steps)
	require.Equal(t, Losses{}, lossesOf(h))
}

// A report from elsewhere is accepted only if a run could have written it, because a table of runs prints it.
func TestSummarizeForeignReports(t *testing.T) {
	for _, row := range []struct {
		session SessionReport
		want    string
	}{
		{session: SessionReport{State: strings.Repeat("\n", 1<<20)},
			want: `sessions[0].state: got "` + strings.Repeat(`\n`, 60) +
				`", want one of finished, stopped, failed, unfinished`},
		{session: SessionReport{State: Finished, Seconds: 1e308},
			want: "sessions[0].seconds: got 1e+308, want at most 10000000000"},
		{session: SessionReport{State: Finished, Seconds: -1},
			want: "sessions[0].seconds: got -1, want a finite number of at least 0"},
		{session: SessionReport{State: Finished, To: -1}, want: "sessions[0].to_step: got -1, want at least 0"},
	} {
		dir := folderWith(t, Report{Sessions: []SessionReport{row.session}}, nil)
		_, err := Summarize(dir)
		require.EqualError(t, err, filepath.Join(dir, ReportFile)+": "+row.want)
	}
}
