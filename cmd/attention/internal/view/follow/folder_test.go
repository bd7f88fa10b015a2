package follow

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The runs of a folder are listed, the newest first, and can be followed by name. Entries that are not runs are
// omitted.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	_, err := OpenFolder(dir)
	require.ErrorContains(t, err, "got no run in it, want the folder of a run, or of runs")
	_, err = OpenFolder(filepath.Join(dir, "none"))
	require.Error(t, err)
	for _, name := range []string{"old", "new"} {
		require.NoError(t, os.CopyFS(filepath.Join(dir, name), os.DirFS("../testdata/run")))
	}
	report := filepath.Join(dir, "new", "report.json")
	require.NoError(t, os.WriteFile(report, []byte(`{"text": "a text", "sessions": [{"state": "stopped", "to_step": 7,
		"begin": "2100-01-01T00:00:00Z", "command": "attention train"}]}`), 0o644))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "empty"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	f, err := OpenFolder(dir)
	require.NoError(t, err)
	all, err := f.List()
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, "new", all[0].Name)
	require.Equal(t, 2100, all[0].Begin.In(time.UTC).Year())
	require.Equal(t, "stopped", all[0].State)
	require.Equal(t, 7, all[0].Steps)
	require.Equal(t, "a text", all[0].Text)
	require.Empty(t, all[0].Sessions)
	require.Equal(t, 40, all[1].Planned)
	require.NotNil(t, all[1].Losses.Validation)

	for range 2 {
		s, err := f.State("old")
		require.NoError(t, err)
		require.Len(t, s.Steps, 40)
	}
	for _, name := range []string{"", "..", "old/../new", "none"} {
		_, err := f.State(name)
		require.ErrorContains(t, err, "want one of 4 in "+dir)
	}
}

// Of any number of values it keeps the first, the last and others at regular intervals. It keeps at least half as many
// as the limit allows.
func TestThinned(t *testing.T) {
	var l thinned[int]
	_, ok := l.end()
	require.False(t, ok)
	for n := range 5*most + 7 {
		l.add(n)
		last, ok := l.end()
		if few := len(l.kept) <= most/2 && n >= most; !ok || last != n || len(l.kept) > most || few {
			require.Fail(t, "kept wrongly", "value %d: the last is %d, %t, of %d", n, last, ok, len(l.kept))
		}
	}
	for i, v := range l.kept[:len(l.kept)-1] {
		require.Equal(t, i*l.every, v)
	}
	l.setEnd(-1)
	require.Equal(t, -1, l.kept[len(l.kept)-1])
}
