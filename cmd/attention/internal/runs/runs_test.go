package runs

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/session"
	"attention/internal/golden"
	"attention/train/checkpoint"

	"github.com/stretchr/testify/require"
)

// list runs attention runs and returns what it prints and notes.
func list(t *testing.T, args ...string) (printed, notes string, err error) {
	var out, errs bytes.Buffer
	err = commandtest.Run(t.Context(), &out, &errs, New(), args...)
	return out.String(), errs.String(), err
}

// inNewFolder changes to a new folder and returns the path of the stored runs.
func inNewFolder(t *testing.T) string {
	old, err := golden.Path("runs")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	return old
}

// writeRun makes the folder of a run with a report.
func writeRun(t *testing.T, old, dir string, begin time.Time, state string, loss, seconds float64) {
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(old, "finished_gpt/run"))))
	r := session.Report{Model: "gpt, 2 layers", Parameters: 123_456,
		Losses: session.Losses{Training: &loss, Validation: &loss},
		Sessions: []session.SessionReport{{Begin: begin, End: begin, State: state, Program: "(devel)",
			Command: "attention train", To: 20, Seconds: seconds, Sample: &session.Sample{Prompt: "a", Text: "b\n"}}}}
	text, err := json.Marshal(r)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, session.ReportFile), text, 0o644))
}

func TestRuns(t *testing.T) {
	old := inNewFolder(t)
	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	writeRun(t, old, "runs/second", at.Add(time.Hour), session.Stopped, 1.25, 4.04)
	writeRun(t, old, "runs/10", at, session.Finished, 12.5, 3725)
	writeRun(t, old, "runs/a-name-that-is-rather-long", at.Add(2*time.Hour), session.Failed, 2, 125)
	writeRun(t, old, "runs/damaged", at, session.Finished, 1, 1)
	require.NoError(t, os.WriteFile("runs/damaged/report.json", []byte("{"), 0o644))
	require.NoError(t, os.Mkdir("runs/foreign", 0o755))
	require.NoError(t, os.WriteFile("runs/file", nil, 0o644))
	for _, dir := range []string{"runs/old", "runs/now"} {
		require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(old, "finished_layer/run"))))
		require.NoError(t, os.Remove(filepath.Join(dir, session.ReportFile)))
	}
	require.NoError(t, os.Remove("runs/now/model.safetensors"))
	now, err := session.OpenFolder("runs/now", checkpoint.Config{})
	require.NoError(t, err)
	defer now.Close()
	writeRun(t, old, "runs/dates", at.Add(3*time.Hour), session.Finished, 0.5, 2)
	require.NoError(t, os.WriteFile("runs/dates/config.json",
		[]byte(`{"format": 2, "model": {"type": "dates", "embed_dim": 6, "num_heads": 2, "num_layers": 1,
			"iso_characters": "-0123456789", "written_characters": " ',./0123456789abcdefghijklmnopqrstuvwxyz"}, "training": {"steps": 20}}`), 0o644))

	printed, notes, err := list(t)
	require.NoError(t, err)
	require.Equal(t, `
FOLDER      DATE             STATE    STEPS MODEL      PARAMS  TRAIN  VALID TIME
runs/now    -                running     12 multi_head      -  3.306  3.249    -
runs/old    -                finished    12 multi_head      -  3.306  3.249    -
runs/10     2026-01-02 15:04 finished    20 gpt          123k 12.500 12.500 1h2m
runs/second 2026-01-02 16:04 stopped     20 gpt          123k  1.250  1.250 4.0s
runs/a-name-that-is-rather-long
            2026-01-02 17:04 failed      20 gpt          123k  2.000  2.000 2m5s
runs/dates  2026-01-02 18:04 finished    20 dates        123k  0.500  0.500 2.0s
`, "\n"+printed)
	require.Equal(t, `attention: runs/damaged/report.json: not JSON: unexpected end of JSON input, want one JSON object
attention: runs/foreign: got no config.json, want the folder of a run
`, notes)

	// A run's folder itself, and one of others.
	printed, notes, err = list(t, "runs/second", "runs")
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(printed, "runs/second "))
	require.Equal(t, 2, strings.Count(notes, "\n"))
}

// The names of foreign folders do not act on a terminal.
func TestRunsNames(t *testing.T) {
	old := inNewFolder(t)
	writeRun(t, old, "runs/\x1b[31m", time.Now(), session.Finished, 1, 1)
	require.NoError(t, os.Mkdir("runs/\x1b[32m", 0o755))
	printed, notes, err := list(t)
	require.NoError(t, err)
	require.NotContains(t, printed+notes, "\x1b")
}

func TestRunsJSON(t *testing.T) {
	old := inNewFolder(t)
	writeRun(t, old, "runs/1", time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), session.Stopped, 1.25, 4)
	printed, notes, err := list(t, "--json")
	require.NoError(t, err)
	require.Empty(t, notes)
	require.Equal(t, 1, strings.Count(printed, "\n"))
	var got any
	require.NoError(t, json.Unmarshal([]byte(printed), &got))
	require.Equal(t, map[string]any{"folder": filepath.Join("runs", "1"), "begin": "2026-01-02T15:04:05Z", "seconds": 4.0,
		"state": "stopped", "steps": 20.0, "planned_steps": 12.0, "text": "text.txt", "model": "gpt, 2 layers",
		"parameters": 123456.0, "losses": map[string]any{"training": 1.25, "validation": 1.25},
		"sessions": []any{map[string]any{"begin": "2026-01-02T15:04:05Z", "end": "2026-01-02T15:04:05Z", "state": "stopped",
			"program": "(devel)", "command": "attention train", "from_step": 0.0, "to_step": 20.0, "seconds": 4.0,
			"sample": map[string]any{"prompt": "a", "text": "b\n"}}},
	}, got)
}

func TestRunsErrors(t *testing.T) {
	old := inNewFolder(t)
	_, _, err := list(t)
	require.EqualError(t, err, "got no folder runs, want one or a DIR; attention train makes it")
	_, _, err = list(t, "nowhere")
	require.EqualError(t, err, "open nowhere: no such file or directory, want a folder of runs")
	_, _, err = list(t, "--jsn")
	require.EqualError(t, err, "unknown flag: --jsn; see attention runs --help\n\nDid you mean this?\n--json")
	writeRun(t, old, "runs/1", time.Now(), session.Finished, 1, 1)
	require.EqualError(t, commandtest.Run(t.Context(), commandtest.Full{}, commandtest.Full{}, New()),
		"printing: no space left")
}
