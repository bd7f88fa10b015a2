package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/layers"
	"attention/layers/generate"
	"attention/train"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// layerRun is a run folder of attention train with one attention layer.
func layerRun(t testing.TB, layer string) (dir string, p *layers.Params, m *layers.LanguageModel) {
	c := layers.LanguageModelConfig{Vocab: 5, Context: 6, Width: 4, Attention: layers.VariantConfig{Layer: layer, DIn: 4, DOut: 4, NumHeads: 2}}
	if layer == layers.MultiHead {
		c.Attention.ContextLength = 6
	}
	p = layers.NewParams(tensor.Float64, 3)
	m, err := layers.NewLanguageModel(p.Scope(""), c)
	require.NoError(t, err)
	dir = t.TempDir()
	require.NoError(t, train.WriteParams(filepath.Join(dir, "model.safetensors"), p, nil))
	text, err := json.Marshal(map[string]any{"text": map[string]any{"name": "x"}, "vocabulary": map[string]any{"characters": "abcde"},
		"model": c, "dtype": "float64", "batch": 3})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), text, 0o644))
	return dir, p, m
}

// A model of one layer goes on too, beyond its window, by reading it anew.
func TestGenerateFromLayerRuns(t *testing.T) {
	dir, p, m := layerRun(t, layers.MultiHead)
	g, err := generate.NewWithoutCache(p, m.Forward, 6, generate.Config{Temperature: 0.8, Seed: 1})
	require.NoError(t, err)
	require.NoError(t, g.Prompt(context.Background(), []int{1, 0, 3}))
	want := ""
	for range 20 {
		id, err := g.Next(context.Background())
		require.NoError(t, err)
		want += string("abcde"[id])
	}
	require.Equal(t, want, mustGenerate(t, "--model", dir, "--prompt", "bad", "--tokens", "20"))

	dir, _, _ = layerRun(t, layers.SelfV2)
	require.Len(t, mustGenerate(t, "--model", dir, "--prompt", "deadbe", "--tokens", "9"), 9)
	_, notes, err := generated(context.Background(), "--model", dir, "--prompt", "deadbead", "--tokens", "9")
	require.NoError(t, err)
	require.Equal(t, "attention: the prompt has 8 tokens, the model's window 6: it sees only the end of the prompt\n", notes)
	_, _, err = generated(context.Background(), "--model", dir, "--prompt", "bad")
	require.EqualError(t, err, "--prompt: got 3 tokens, want at least 6: the model goes on with whole windows only")

	config := filepath.Join(dir, "config.json")
	text, err := os.ReadFile(config)
	require.NoError(t, err)
	for want, change := range map[string][2]string{
		`: --dtype: got "int", want float32 or float64`:                    {`"float64"`, `"int"`},
		": text: vocabulary: got 'b' after 'c', want ascending characters": {"abcde", "acbde"},
		": layers: LanguageModel: Vocab: got 0, want at least 1":           {`"vocab":5`, `"vocab":0`},
		": dtype: got 64, want a string":                                   {`"float64"`, `64`},
	} {
		require.Contains(t, string(text), change[0])
		require.NoError(t, os.WriteFile(config, []byte(strings.Replace(string(text), change[0], change[1], 1)), 0o644))
		_, _, err = generated(context.Background(), "--model", dir, "--prompt", "deadbead")
		require.ErrorContains(t, err, "--model: "+config+want)
	}
	require.NoError(t, os.WriteFile(config, text, 0o644))
	require.NoError(t, os.Remove(filepath.Join(dir, "model.safetensors")))
	_, _, err = generated(context.Background(), "--model", dir, "--prompt", "deadbead")
	require.ErrorIs(t, err, os.ErrNotExist)
}
