package models

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/run/settings"
	"attention/internal/folder"
	"attention/layers"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// ollamaStore makes a store with a model at a place below its manifests, and returns the store and the model's file.
func ollamaStore(t *testing.T, place string) (store, blob string) {
	store = t.TempDir()
	vocabulary, err := text.NewVocabulary("abc")
	require.NoError(t, err)
	p := layers.NewParams(tensor.Float32, 3)
	m, err := layers.NewGPT(p.Scope(""), layers.GPTConfig{VocabSize: 3, ContextLength: 6, EmbedDim: 8, NumLayers: 1,
		NumHeads: 2, Bias: true, Activation: "gelu_new"})
	require.NoError(t, err)
	g := &pretrained.GPT{Model: m, Params: p, Tokenizer: vocabulary, EndOfText: -1}
	file := filepath.Join(t.TempDir(), "model.gguf")
	require.NoError(t, g.WriteGGUF(file, "f32"))
	size, sum, err := folder.Sum(file)
	require.NoError(t, err)
	blob = filepath.Join(store, "blobs", "sha256-"+sum)
	require.NoError(t, os.MkdirAll(filepath.Dir(blob), 0o755))
	require.NoError(t, os.Rename(file, blob))
	ollamaManifest(t, store, place, fmt.Sprintf(`{"mediaType": "application/vnd.ollama.image.template", "digest": "sha256:0"},
		{"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:%s", "size": %d}`, sum, size))
	return store, blob
}

// ollamaManifest writes a manifest with layers.
func ollamaManifest(t *testing.T, store, place, layers string) {
	path := filepath.Join(store, "manifests", filepath.FromSlash(place))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(`{"schemaVersion": 2, "config": {}, "layers": [`+layers+`]}`), 0o644))
}

// A model in Ollama's store is found by its name, and opened; nothing is written to the store.
func TestOllama(t *testing.T) {
	for place, name := range map[string]string{
		"registry.ollama.ai/library/small/latest": "ollama:small", "registry.ollama.ai/library/small/1b-q8_0": "ollama:small:1b-q8_0",
		"registry.ollama.ai/me/small/latest": "ollama:me/small", "hf.co/me/Small-GGUF/Q4_K_M": "ollama:hf.co/me/Small-GGUF:Q4_K_M",
	} {
		store, blob := ollamaStore(t, place)
		t.Setenv("OLLAMA_MODELS", store)
		before := namesBelow(t, store)
		in, err := Inspect(name)
		require.NoError(t, err)
		require.Equal(t, []any{blob, name, name, false}, []any{in.Dir, in.Name(), in.Base(), in.IsRun()})
		m, err := in.Open()
		require.NoError(t, err)
		require.Equal(t, 3, m.Tokenizer.Len())
		source, err := settings.SourceOf(name)
		require.NoError(t, err)
		require.Equal(t, []string{name, strings.TrimPrefix(filepath.Base(blob), "sha256-")}, []string{source.Name, source.SHA256})
		require.True(t, settings.IsModel(name))
		require.Equal(t, before, namesBelow(t, store))
	}
	home := t.TempDir()
	t.Setenv("OLLAMA_MODELS", "")
	t.Setenv("HOME", home)
	store, blob := ollamaStore(t, "registry.ollama.ai/library/small/latest")
	require.NoError(t, os.Mkdir(filepath.Join(home, ".ollama"), 0o755))
	require.NoError(t, os.Rename(store, filepath.Join(home, ".ollama", "models")))
	got, err := settings.Locate("ollama:small")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(home, ".ollama", "models", "blobs", filepath.Base(blob)), got)
}

// namesBelow returns the paths of all files and folders below one.
func namesBelow(t *testing.T, dir string) (all []string) {
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	}))
	return all
}

// Invalid names, names that lead out of the store, and files that are not manifests are errors of one line.
func TestOllamaWrong(t *testing.T) {
	store, _ := ollamaStore(t, "registry.ollama.ai/library/small/latest")
	t.Setenv("OLLAMA_MODELS", store)
	digest := func(kind, of string) string {
		return fmt.Sprintf(`{"mediaType": "application/vnd.ollama.image.%s", "digest": "%s"}`, kind, of)
	}
	sum := "sha256:" + strings.Repeat("0", 64)
	for name, manifest := range map[string]string{
		"none": "", "out": digest("model", "sha256:../../x"), "two": digest("model", sum) + "," + digest("model", sum),
		"adapted": digest("model", sum) + "," + digest("adapter", sum), "bad": "}", "gone": digest("model", sum),
	} {
		ollamaManifest(t, store, "registry.ollama.ai/library/"+name+"/latest", manifest)
	}
	for name, want := range map[string]string{
		"ollama:missing": "got no model of this name in Ollama's store (" + store + "), want one that ollama list shows",
		"ollama:":        "want ollama:NAME, ollama:NAME:TAG or ollama:OWNER/NAME:TAG",
		"ollama:../x":    "want ollama:NAME",
		"ollama:x:..":    "want ollama:NAME",
		"ollama:x/../y":  "want ollama:NAME",
		"ollama:a/b/c/d": "want ollama:NAME",
		"ollama:x:a/b":   "want ollama:NAME",
		"ollama:none":    "none/latest: got a manifest without a model, want one with",
		"ollama:out":     `digest: got "sha256:../../x", want sha256 and 64 digits`,
		"ollama:two":     "got a model of several files, want one file",
		"ollama:adapted": "got a model with an adapter, want one without",
		"ollama:bad":     "bad/latest: invalid character",
		"ollama:gone":    "no such file or directory, want the folder of a model",
	} {
		_, err := Inspect(name)
		require.ErrorContains(t, err, want, name)
		require.NotContains(t, err.Error(), "\n")
		require.False(t, settings.IsModel(name))
	}
	_, err := Inspect("ollama:missing")
	require.ErrorIs(t, err, fs.ErrNotExist)
}
