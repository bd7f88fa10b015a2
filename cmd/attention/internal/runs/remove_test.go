package runs

import (
	"os"
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/session"
	"attention/train/checkpoint"

	"github.com/stretchr/testify/require"
)

// copyRun copies one of the stored runs to a path.
func copyRun(t *testing.T, stored, name, to string) {
	require.NoError(t, os.CopyFS(to, os.DirFS(filepath.Join(stored, name, "run"))))
}

func remove(t *testing.T, names ...string) (string, error) {
	return commandtest.Output(t.Context(), New(), append([]string{"remove"}, names...)...)
}

// TestRemove: a run's folder is removed, by its name alone or with the folder of runs, and nothing else.
func TestRemove(t *testing.T) {
	stored := inNewFolder(t)
	for _, to := range []string{"runs/first", "runs/second", "runs/third", "other/first", "first"} {
		copyRun(t, stored, "gpt", to)
	}
	require.NoError(t, os.WriteFile("runs/second/.tmp-config.json123", nil, 0o644)) // of a run that was killed
	require.NoError(t, os.WriteFile("runs/second/checkpoints/lock", nil, 0o644))
	printed, err := remove(t, "first", "runs/second/")
	require.NoError(t, err)
	require.Equal(t, "removed runs/first\nremoved runs/second\n", printed)
	left, err := filepath.Glob("*/*")
	require.NoError(t, err)
	require.Subset(t, left, []string{"other/first", "first/config.json", "runs/third"})
	require.NotContains(t, left, "runs/first")
	require.NotContains(t, left, "runs/second")
}

// TestRemoveRefuses: a run in progress, a folder that is not a run, that contains other files or that is elsewhere is
// not removed, and then none of the others named with it are.
func TestRemoveRefuses(t *testing.T) {
	stored := inNewFolder(t)
	for _, to := range []string{"runs/whole", "runs/busy", "runs/noted", "runs/kept", "runs/linked", "other/run",
		"outside"} {
		copyRun(t, stored, "gpt", to)
	}
	require.NoError(t, os.WriteFile("runs/noted/notes.txt", nil, 0o644))
	require.NoError(t, os.WriteFile("runs/kept/checkpoints/best.safetensors", nil, 0o644))
	require.NoError(t, os.Rename("runs/linked/config.json", "outside/its.json"))
	require.NoError(t, os.Symlink("../../outside/its.json", "runs/linked/config.json"))
	require.NoError(t, os.Symlink("../outside", "runs/link"))
	require.NoError(t, os.MkdirAll("runs/empty", 0o755))
	require.NoError(t, os.WriteFile("runs/file", nil, 0o644))
	require.NoError(t, os.Mkdir("runs/model", 0o755))
	require.NoError(t, os.CopyFS("runs/model", os.DirFS(commandtest.WriteGPT(t, commandtest.SmallGPT(t)))))
	busy, err := session.OpenFolder("runs/busy", checkpoint.Config{Keep: 1})
	require.NoError(t, err)
	before := commandtest.Files(t)
	for name, want := range map[string]string{
		"busy": "runs/busy: got a run in progress, want one that is not: train: checkpoints: runs/busy/checkpoints/lock: " +
			"in use by another process",
		"noted":       "runs/noted: got notes.txt in it, want only files of the run: move it away first",
		"kept":        "runs/kept: got checkpoints/best.safetensors in it, want only files of the run: move it away first",
		"link":        "runs/link: got no folder, want that of a run",
		"linked":      "runs/linked/config.json: ",
		"empty":       "runs/empty: got no config.json, want the folder of a run",
		"nothere":     "runs/nothere: got no config.json, want the folder of a run",
		"file":        "runs/file: got no folder, want that of a run",
		"model":       "runs/model: got an exported model, want the folder of a run",
		"other/run":   `got "other/run", want the name of a run in the folder runs`,
		"../outside":  `got "../outside", want the name of a run in the folder runs`,
		"runs/../x":   "runs/x: got no config.json, want the folder of a run",
		"runs":        "runs/runs: got no config.json, want the folder of a run",
		".":           `got ".", want the name of a run in the folder runs`,
		"..":          `got "..", want the name of a run in the folder runs`,
		"":            `got "", want the name of a run in the folder runs`,
		"/":           `got "/", want the name of a run in the folder runs`,
		"runs/whole/": "runs/whole: got a run in progress", // it is already locked under its other name
	} {
		printed, err := remove(t, "whole", name)
		require.ErrorContains(t, err, want, name)
		require.Empty(t, printed, name)
	}
	_, err = remove(t)
	require.EqualError(t, err, "got no name, want those of runs in the folder runs")
	require.ElementsMatch(t, withLocks(before, "runs/whole"), commandtest.Files(t))
	require.NoError(t, busy.Close())
	_, err = remove(t, "busy", "whole")
	require.NoError(t, err, "both are free again")
}

// withLocks returns files and the lock that remains of a run that was locked for a while.
func withLocks(files []string, run string) []string {
	return append(files, filepath.FromSlash(run+"/checkpoints/lock"))
}
