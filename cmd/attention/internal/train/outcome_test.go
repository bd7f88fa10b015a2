package train

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/train/metrics"

	"github.com/stretchr/testify/require"
)

// contents returns the files of a run folder without the lock.
func contents(t *testing.T, folder string) map[string]string {
	files := map[string]string{}
	for _, name := range append(namesIn(t, folder),
		prefixed(settings.CheckpointsFolder, namesIn(t, filepath.Join(folder, settings.CheckpointsFolder)))...) {
		switch filepath.Base(name) {
		case settings.CheckpointsFolder, "lock":
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		files[name] = string(content)
	}
	return files
}

// outcome returns the files of a run folder, without the speed of the run and without its report, which has dates.
func outcome(t *testing.T, folder string) map[string]string {
	files := contents(t, folder)
	delete(files, session.ReportFile)
	var lines strings.Builder
	for line := range strings.Lines(files[metrics.FileName]) {
		var m map[string]json.Number
		require.NoError(t, json.Unmarshal([]byte(line), &m), "%q", line)
		delete(m, "tokens_per_second")
		fmt.Fprintln(&lines, m)
	}
	files[metrics.FileName] = lines.String()
	return files
}

func prefixed(folder string, names []string) (paths []string) {
	for _, name := range names {
		paths = append(paths, filepath.Join(folder, name))
	}
	return paths
}

// requireSameOutcome compares two runs file by file.
func requireSameOutcome(t *testing.T, want, got string) {
	wanted, found := outcome(t, want), outcome(t, got)
	for name, content := range wanted {
		require.True(t, content == found[name], "%s of %s and %s differ: %d bytes, %d bytes",
			name, want, got, len(content), len(found[name]))
	}
	require.Len(t, found, len(wanted), "%v", found)
}
