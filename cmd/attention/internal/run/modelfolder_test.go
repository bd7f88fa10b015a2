package run

import (
	"testing"

	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// The config of a run is converted to that of a model folder.
func TestPretrainedConfig(t *testing.T) {
	for _, row := range []struct{ reason, config, want string }{
		{"a run", `{"text": {"name": "x"}, "vocabulary": {"characters": "ab"}, "model": {"n_embd": 12, "n_layer": 2}, "dtype": "float64"}`,
			`{"model_type": "gpt2", "n_embd": 12, "n_layer": 2, "vocabulary": {"characters": "ab"}}`},
		{"no tokenizer", `{"vocabulary": null, "model": {"n_embd": 12}}`, `{"model_type": "gpt2", "n_embd": 12}`},
		{"of any type of value, for the reader to refuse", `{"model": {"n_embd": "12"}}`, `{"model_type": "gpt2", "n_embd": "12"}`},
		{"a model with its type", `{"model": {"type": "gpt", "n_embd": 12}}`, `{"model_type": "gpt2", "n_embd": 12}`},
		{"no vocabulary", `{"model": {"n_embd": 12}}`, `{"model_type": "gpt2", "n_embd": 12}`},
		{"a model folder's own", `{"model_type": "gpt2", "n_embd": 12}`, `{"model_type": "gpt2", "n_embd": 12}`},
		{"for the reader to refuse", `[1]`, `[1]`},
	} {
		got, err := pretrainedConfig([]byte(row.config))
		require.NoError(t, err, row.reason)
		require.JSONEq(t, row.want, string(got), row.reason)
	}
	for _, config := range []string{
		`{"model": {"vocab": 13}}`, `{"model": {"n_embd": null}}`, `{"model": {"type": "layer", "n_embd": 12}}`, `{"model": 7}`, `{"model": null}`,
	} {
		_, err := pretrainedConfig([]byte(config))
		require.ErrorIs(t, err, pretrained.ErrNotGPT, config)
		require.EqualError(t, err, "model: the model is no GPT", config)
	}
	_, err := pretrainedConfig([]byte(`{"model": {"n_embd": 1, "n_embd": 2}}`))
	require.EqualError(t, err, `model: field "n_embd" comes twice`)
}
