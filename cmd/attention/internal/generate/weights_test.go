package generate

import (
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/train/checkpoint"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// Every layer has weights over the whole text: rows that sum to 1 and see no later token. The text is the
// same as without them.
func TestGenerateWeights(t *testing.T) {
	path := filepath.Join(t.TempDir(), "weights.safetensors")
	g := commandtest.SmallGPT(t)
	gpt := commandtest.WriteGPT(t, g)
	layer, _, _ := commandtest.LayerRun(t, "multi_head")
	simple, _, _ := commandtest.LayerRun(t, "simple")
	for _, c := range []struct {
		name, model, prompt string
		texts               string // of the tokens in the window
		causal              bool
		names               []string
	}{
		{name: "GPT", model: gpt, prompt: "abc", causal: true,
			texts: `["a","b","c","é","é","é","é","b","d","é"," ","f"]`,
			names: []string{"transformer.h.0.attn", "transformer.h.1.attn"}},
		{name: "layer, beyond its window", model: layer, prompt: "bad", causal: true,
			texts: `["a","c","b","d","d","b"]`, names: []string{"attention"}},
		{name: "layer without an Attention", model: simple, prompt: "deadbe", texts: `["b","e","b","b","b","e"]`,
			names: []string{"attention"}},
	} {
		args := []string{"--model", c.model, "--prompt", c.prompt, "--tokens", "9"}
		want := mustGenerate(t, args...)
		require.Equal(t, want, mustGenerate(t, append(args, "--weights", path)...), c.name)
		tensors, metadata, err := checkpoint.ReadTensors(path)
		require.NoError(t, err, c.name)
		require.Equal(t, c.texts, metadata["tokens"], c.name)
		require.Len(t, tensors, len(c.names), c.name)
		for _, name := range c.names {
			w, ok := tensors[name]
			require.True(t, ok, "%s: %v", c.name, tensors)
			requireWeights(t, w, c.causal)
		}
	}
}

// requireWeights requires rows that sum to 1, and 0 for the keys after a query.
func requireWeights(t *testing.T, w *tensor.Dense, causal bool) {
	require.Len(t, w.Shape(), 3)
	n := w.Shape()[2]
	for i := range w.Shape().TotalSize() / n {
		sum := 0.0
		for s := range n {
			v, err := w.At(i/n, i%n, s)
			require.NoError(t, err)
			x, ok := v.(float64)
			if !ok {
				x = float64(v.(float32))
			}
			sum += x
			if causal && s > i%n {
				require.Zero(t, x)
			}
		}
		require.InDelta(t, 1, sum, 1e-6)
	}
}
