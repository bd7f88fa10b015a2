package session

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/run/settings"
	"attention/internal/simd"
	"attention/layers"
	"attention/train/checkpoint"
	"attention/train/metrics"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// openFolder opens a run folder and closes it at the end of the test. The lock is free for the next one.
func openFolder(t *testing.T, path string) *Folder {
	t.Helper()
	f, err := OpenFolder(path, checkpoint.Config{})
	require.NoError(t, err)
	require.NoError(t, f.Checkpoints.Close())
	t.Cleanup(func() {
		if f.Metrics != nil {
			f.Metrics.Close()
		}
		require.NoError(t, f.dir.Close())
	})
	return f
}

// A run folder from elsewhere may contain links. No link is written through, and no file behind a link is removed: the
// folder is refused before anything is done. None is written through, and what lies behind one is not removed: the
// folder is refused before anything is done.
func TestLinksInARunFolderAreRefused(t *testing.T) {
	for _, name := range append([]string{metrics.FileName, settings.CheckpointsFolder, filepath.Join(settings.CheckpointsFolder,
		"lock")},
		writtenFiles...) {
		path, outside := t.TempDir(), t.TempDir()
		kept := map[string]string{"x": "theirs", ".tmp-step-00000001.safetensors1": "theirs too"}
		for name, text := range kept {
			require.NoError(t, os.WriteFile(filepath.Join(outside, name), []byte(text), 0o644))
		}
		target, want := filepath.Join(outside, "x"), "a regular file"
		if name == settings.CheckpointsFolder {
			target, want = outside, "a folder"
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(path, name)), 0o755))
		if err := os.Symlink(target, filepath.Join(path, name)); err != nil {
			t.Skip(err)
		}
		_, err := OpenFolder(path, checkpoint.Config{})
		require.ErrorContains(t, err, "open "+filepath.Join(path, name)+": got a symbolic link, want "+want)
		_, err = NewFolder(path, checkpoint.Config{})
		require.ErrorContains(t, err, "--out: ")
		for name, text := range kept {
			content, err := os.ReadFile(filepath.Join(outside, name))
			require.NoError(t, err)
			require.Equal(t, text, string(content))
		}
		names, err := os.ReadDir(outside)
		require.NoError(t, err)
		require.Len(t, names, len(kept))
	}
}

// A new run may find the remains of a run that was killed before it began, and removes them. Files that no run has left
// stay.
func TestNewFolderRemovesOnlyRemains(t *testing.T) {
	path := t.TempDir()
	mine, theirs := filepath.Join(path, ".tmp-config.json12"), filepath.Join(path, ".tmp-notes")
	require.NoError(t, os.WriteFile(mine, nil, 0o644))
	require.NoError(t, os.WriteFile(theirs, nil, 0o644))
	_, err := NewFolder(path, checkpoint.Config{})
	require.EqualError(t, err, "--out: "+path+": got a folder that is not empty, want a new or empty one")
	require.FileExists(t, theirs)
	require.FileExists(t, mine)
	require.NoError(t, os.Remove(theirs))
	f, err := NewFolder(path, checkpoint.Config{})
	require.NoError(t, err)
	require.NoFileExists(t, mine)
	require.NoError(t, f.Close())
}

func TestFolderWrite(t *testing.T) {
	path := t.TempDir()
	f := openFolder(t, path)
	require.ErrorContains(t, f.Write("notes", func(io.Writer) error { return nil }), "got a file that no run has")
	require.NoError(t, os.Symlink("elsewhere", filepath.Join(path, LossPicture)))
	require.EqualError(t, f.Write(LossPicture, func(io.Writer) error { return nil }),
		"train: "+filepath.Join(path, LossPicture)+": got a symbolic link, want a regular file")
}

// Without config.json a model is useless, so the run writes it again and reports this.
func TestRemovedConfigIsSaid(t *testing.T) {
	path := t.TempDir()
	f := openFolder(t, path)
	c := settings.Config{Dtype: "float32"}
	require.NoError(t, f.WriteConfig(c))
	require.NoError(t, f.CheckConfig())
	before, err := os.ReadFile(filepath.Join(path, settings.ConfigFile))
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(path, settings.ConfigFile)))
	require.EqualError(t, f.CheckConfig(), "train: "+filepath.Join(path, settings.ConfigFile)+
		": got none, want the one that the run began with: it was removed and is written anew")
	after, err := os.ReadFile(filepath.Join(path, settings.ConfigFile))
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// A picture names its model and its run.
func TestTitle(t *testing.T) {
	require.Equal(t, "gpt, run first", (&Folder{Path: "runs/first"}).title("gpt"))
}

func TestEqualModelsAreEqualFiles(t *testing.T) {
	path := t.TempDir()
	f := openFolder(t, path)
	p := layers.NewParams(tensor.Float32, 1)
	_, err := p.Scope("").Param("w", layers.Constant(7), 2, 3)
	require.NoError(t, err)
	var files [2][]byte
	for i := range files {
		require.NoError(t, f.WriteModel(map[string]string{"dtype": "float32"}, p, 3, 0))
		files[i], err = os.ReadFile(filepath.Join(path, settings.ModelFile))
		require.NoError(t, err)
	}
	require.Equal(t, files[0], files[1])
}

func TestDifferences(t *testing.T) {
	for _, row := range []struct {
		name     string
		restored checkpoint.Restored
		want     []string
	}{
		{name: "none"},
		{name: "kernels", restored: checkpoint.Restored{Kernels: "sve"},
			want: []string{`the checkpoint was written with the kernels "sve", not "` + simd.InstructionSet() +
				`": bits may differ from those of a run that never stopped`}},
		{name: "precision", restored: checkpoint.Restored{Precision: "bf16"},
			want: []string{`the checkpoint was written in the precision "bf16", which now is another: ` +
				`bits differ from those of a run that never stopped`}},
	} {
		require.Equal(t, row.want, differences(&row.restored), row.name)
	}
}
