package runs

import (
	"os"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"

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
