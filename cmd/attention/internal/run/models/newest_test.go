package models

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"attention/cmd/attention/internal/run/settings"

	"github.com/stretchr/testify/require"
)

// TestNewest: the newest run is the one whose config.json is, among those of a kind with weights.
func TestNewest(t *testing.T) {
	sources := map[string]string{}
	for _, name := range []string{"finished_gpt", "finished_layer", "gpt"} {
		sources[name] = copyOf(t, name)
	}
	t.Chdir(t.TempDir())
	var notes strings.Builder
	_, err := Source{}.Inspect(&notes, settings.GPTModel)
	require.EqualError(t, err, "--model: missing, want the folder of a model: runs has none to take; attention train makes one")
	at := time.Now().Add(-time.Hour)
	for _, of := range []struct{ name, from string }{
		{name: "9", from: "finished_gpt"}, {name: "my run", from: "gpt"}, {name: "1", from: "finished_layer"},
		{name: "begun", from: "finished_layer"}, {name: "damaged", from: "finished_gpt"},
	} {
		dir := filepath.Join(Runs, of.name)
		require.NoError(t, os.CopyFS(dir, os.DirFS(sources[of.from])))
		at = at.Add(time.Minute)
		require.NoError(t, os.Chtimes(filepath.Join(dir, settings.ConfigFile), at, at))
	}
	require.NoError(t, os.Remove("runs/begun/model.safetensors"))
	require.NoError(t, os.RemoveAll("runs/begun/checkpoints"))
	require.NoError(t, os.Truncate("runs/damaged/config.json", 10))
	for _, row := range []struct {
		kinds []string
		want  string
	}{
		{kinds: []string{settings.GPTModel, settings.LayerModel}, want: "1"},
		{kinds: []string{settings.LayerModel}, want: "1"},
		{kinds: []string{settings.GPTModel}, want: "my run"},
	} {
		notes.Reset()
		in, err := Source{}.Inspect(&notes, row.kinds...)
		require.NoError(t, err)
		require.Equal(t, filepath.Join(Runs, row.want), in.Dir)
		require.Equal(t, "attention: --model: the newest run, "+
			map[string]string{"1": "runs/1", "my run": "'runs/my run'"}[row.want]+"\n", notes.String())
	}
	accepts := func(name string) func(*Inspection) error {
		return func(in *Inspection) error {
			if filepath.Base(in.Dir) != name {
				return errors.New(in.Dir + ": got another")
			}
			return nil
		}
	}
	dir, err := Newest(&notes, accepts("9"), settings.GPTModel)
	require.NoError(t, err)
	require.Equal(t, "runs/9", dir)
	_, err = Newest(&notes, accepts("none"), settings.GPTModel)
	require.ErrorContains(t, err, ": got another")
	_, err = Source{}.Inspect(&notes, settings.DatesModel)
	require.ErrorContains(t, err, "runs has none to take")
	notes.Reset()
	in, err := Source{Dir: "runs/9"}.Inspect(&notes, settings.LayerModel)
	require.NoError(t, err)
	require.Equal(t, "runs/9", in.Dir)
	require.Empty(t, notes.String(), "it is named")
}

// TestErrKind: the error about a folder of another kind has the command that takes it.
func TestErrKind(t *testing.T) {
	for _, row := range []struct{ kind, got, takes string }{
		{kind: settings.DatesModel, got: "a run of attention translate", takes: "translate --model 'a b' --date 8/6/63"},
		{kind: settings.LayerModel, got: "a run of attention train of one layer", takes: "generate --model 'a b' --prompt TEXT"},
		{kind: settings.GPTModel, got: "a run of attention train", takes: "generate --model 'a b' --prompt TEXT"},
		{got: "a model that is no run's", takes: "generate --model 'a b' --prompt TEXT"},
	} {
		in := Inspection{Dir: "a b", Kind: row.kind}
		require.EqualError(t, in.ErrKind("x"), "a b: got "+row.got+", want x; this one is for: attention "+row.takes)
	}
}

func TestCount(t *testing.T) {
	for n, want := range []string{"0 heads", "1 head", "2 heads"} {
		require.Equal(t, want, settings.Count(n, "head"))
	}
}
