package models

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/layers"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// The error about a path that is not a model folder says what to give instead: a snapshot for the Hub's cache, and for
// a name, how to get its folder.
func TestFoldersOfOthers(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"hub/models--X--Y/snapshots/abc", "hub/models--X--Y/snapshots/def", "hub/models--X--Y/refs",
		"hub/models--X--Z", "runs/one"} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	require.NoError(t, os.WriteFile("hub/models--X--Y/refs/main", []byte("def\n"), 0o644))
	require.NoError(t, os.WriteFile("x.gguf", []byte("GGUF"), 0o644))
	require.NoError(t, os.WriteFile("y.gguf", []byte("text"), 0o644))
	const download = ", want the folder of a model; to get the folder of a model from the Hub: hf download X/Y-1.5 --local-dir Y-1.5"
	snapshot := filepath.FromSlash("hub/models--X--Y/snapshots/def")
	for path, want := range map[string]string{
		"hub/models--X--Y":                         "hub/models--X--Y: got a folder of the Hub's cache, want the model's folder in it: " + snapshot,
		"hub/models--X--Y/snapshots/":              "hub/models--X--Y/snapshots/: got a folder of the Hub's cache, want the model's folder in it: " + snapshot,
		"hub/models--X--Z":                         "hub/models--X--Z: got a folder of the Hub's cache without snapshots, want the folder of a model",
		"X/Y-1.5":                                  download,
		"https://huggingface.co/X/Y-1.5/tree/main": download,
		"hf.co/X/Y-1.5":                            download,
		"smollm2:135m":                             ", want the folder of a model; to take a model from Ollama's store: ollama:smollm2:135m",
		"runs/two":                                 "runs/two: no such file or directory, want the folder of a model",
		"./runs":                                   "open runs/config.json: no such file or directory, want the folder of a model, with config.json",
		"x.gguf":                                   "gguf: x.gguf: got a file that ends in its head, want a whole one",
		"y.gguf":                                   "y.gguf: got a file, want the folder of a model, with config.json and model.safetensors, or a GGUF file",
	} {
		_, err := Inspect(path)
		require.ErrorContains(t, err, want, path)
		if path == "X/Y-1.5" || path == "smollm2:135m" {
			require.ErrorIs(t, err, fs.ErrNotExist)
		}
		if path == "runs/two" {
			require.NotContains(t, err.Error(), "hf download")
		}
	}
}

// Opening a folder notes the keys of its config files that are ignored.
func TestIgnoredKeysAreNoted(t *testing.T) {
	vocabulary, err := text.NewVocabulary("abc")
	require.NoError(t, err)
	dir := writeGPT(t, layers.GPTConfig{VocabSize: 5, ContextLength: 6, EmbedDim: 8, NumLayers: 1, NumHeads: 2}, vocabulary)
	path := filepath.Join(dir, "config.json")
	config, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append([]byte(`{"logits_scaling": 8, "_x": 1, `), config[1:]...), 0o644))
	in, err := Inspect(dir)
	require.NoError(t, err)
	m, err := in.Open()
	require.NoError(t, err)
	require.Equal(t, []string{dir + ": keys that are ignored: logits_scaling"}, m.Notes)
	var notes strings.Builder
	g, err := in.GPT()
	require.NoError(t, err)
	NoteIgnored(&notes, dir, g)
	require.Equal(t, "attention: "+m.Notes[0]+"\n", notes.String())
}
