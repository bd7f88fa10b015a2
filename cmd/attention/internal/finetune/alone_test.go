package finetune

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/settings"
	"attention/layers"
	"attention/train/checkpoint"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// formRun writes the folder of a run whose model has a form of attention and the tokenizer of the tiny Llama.
func formRun(t *testing.T, form string) (dir string) {
	of, err := commandtest.Inspect(t, commandtest.SmallLlama(t)).GPT()
	require.NoError(t, err)
	var c settings.ModelConfig
	require.NoError(t, json.Unmarshal([]byte(`{"type": "gpt", "num_layers": 2, "num_heads": 2, "embed_dim": 12, `+
		`"context_length": 32, `+
		`"vocab_size": 265, "attention_form": "`+form+`"}`), &c))
	p := layers.NewParams(tensor.Float32, 3)
	_, err = c.New(p.Scope(""))
	require.NoError(t, err)
	dir = t.TempDir()
	require.NoError(t, checkpoint.WriteParams(filepath.Join(dir, settings.ModelFile), p, nil))
	config, err := json.Marshal(map[string]any{"format": settings.Format, "text": map[string]any{"name": "x"},
		"vocabulary": of.Tokenizer.Config(), "model": c, "dtype": "float32", "batch": 3})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, settings.ConfigFile), config, 0o600))
	tokenizer, err := os.ReadFile(filepath.Join(commandtest.SmallLlama(t), "tokenizer.json"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tokenizer.json"), tokenizer, 0o600))
	return dir
}

// A model with any form of attention can be tuned; if its rows are not shared, the output says so.
func TestEveryFormIsTuned(t *testing.T) {
	_, flags := files(t, "--steps", "2", "--sample", "0")
	for _, form := range settings.Forms() {
		said, err := tune(t, append(slices.Clone(flags), "--model", formRun(t, form), "--out",
			filepath.Join(t.TempDir(), "run"))...)
		require.NoError(t, err, form)
		const alone = "each example has a row of its own"
		if slices.Contains(append(layers.LinearForms(), "moba"), form) {
			require.Contains(t, said, "in 12 rows", form)
			require.Contains(t, said, alone, form)
		} else {
			require.NotContains(t, said, alone, form)
		}
	}
}
