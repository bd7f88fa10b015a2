package runs

import (
	"os"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/session"

	"github.com/stretchr/testify/require"
)

func compare(t *testing.T, names ...string) (string, error) {
	return commandtest.Output(t.Context(), New(), append([]string{"compare"}, names...)...)
}

// TestCompare: the rows of runs, the settings that differ, and the lowest loss if the losses compare.
func TestCompare(t *testing.T) {
	stored := inNewFolder(t)
	copyRun(t, stored, "finished_gpt", "runs/first")
	copyRun(t, stored, "finished_gpt", "again")
	copyRun(t, stored, "finished_layer", "runs/layer")
	config, err := os.ReadFile("again/config.json")
	require.NoError(t, err)
	printed, err := compare(t, "first", "again")
	require.NoError(t, err)
	head, rest, _ := strings.Cut(printed, "\n\n")
	require.Equal(t, 3, strings.Count(head+"\n", "\n"), head)
	require.Contains(t, rest, "Their settings are the same.\n\nThe lowest validation loss is that of runs/first: ")

	changed := strings.Replace(string(config), `"batch": `, `"batch": 1`, 1)
	require.NotEqual(t, string(config), changed)
	require.NoError(t, os.WriteFile("again/config.json", []byte(changed), 0o644))
	printed, err = compare(t, "first", "again")
	require.NoError(t, err)
	require.Regexp(t, `\n\nbatch  \d+ \| 1\d+\n\nThe lowest `, printed)

	printed, err = compare(t, "first", "again", "runs/layer")
	require.NoError(t, err)
	require.Regexp(t, `\nmodel.type +"layer" \| "gpt" \| "gpt"\n`, printed)

	_, sum, found := strings.Cut(string(config), `"sha256": "`)
	require.True(t, found)
	changed = strings.Replace(string(config), sum[:64], sum[:30]+"xyz"+sum[33:64], 1) // in what the line leaves out
	require.NoError(t, os.WriteFile("again/config.json", []byte(changed), 0o644))
	printed, err = compare(t, "first", "again")
	require.NoError(t, err)
	require.Contains(t, printed, "\n\nTheir losses do not compare: the texts or the tokens differ.\n")
	for line := range strings.Lines(printed) {
		require.LessOrEqual(t, len([]rune(line)), 81, line)
	}

	_, err = compare(t, "first")
	require.EqualError(t, err, "got 1 run, want two or more")
	_, err = compare(t, "first", "nothere")
	require.EqualError(t, err, "runs/nothere: got no config.json, want the folder of a run")
}

func TestCells(t *testing.T) {
	require.Equal(t, "-", loss(nil))
	for x, want := range map[float64]string{1.25: "1.250", 99999.5: "99999.500", 1e300: "1e+300"} {
		require.Equal(t, want, loss(&x))
	}
	require.Equal(t, "multi_hea…", short("multi_head_wrapper"))
	for n, want := range map[int]string{0: "-", 812: "812", 999: "999", 1000: "1k", 104896: "105k", 999_600: "1M",
		124_439_808: "124M", 2_000_000_000_000_000: "2e+03T"} {
		require.Equal(t, want, count(n))
	}
	require.Equal(t, "300", steps(session.Summary{Steps: 300}))
	require.Equal(t, "120/300", steps(session.Summary{Steps: 300, Report: session.Report{Best: 120}}))
	for seconds, want := range map[float64]string{0.04: "0.0s", 59.9: "59.9s", 60: "1m", 61.4: "1m1s", 3600: "1h0m",
		90000: "25h0m"} {
		require.Equal(t, want, duration(session.Summary{Seconds: &seconds}))
	}
}
