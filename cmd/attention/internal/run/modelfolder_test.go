package run

import (
	"testing"

	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// The config of a run is converted to that of a model folder.
func TestPretrainedConfig(t *testing.T) {
	for _, row := range []struct{ reason, config, want string }{
		{reason: "a run",
			config: `{"text": {"name": "x"}, "vocabulary": {"characters": "ab"}, "model": {"n_embd": 12, "n_layer": 2}, ` +
				`"dtype": "float64"}`,
			want: `{"model_type": "gpt2", "n_embd": 12, "n_layer": 2, "vocabulary": {"characters": "ab"}}`},
		{reason: "no tokenizer", config: `{"vocabulary": null, "model": {"n_embd": 12}}`,
			want: `{"model_type": "gpt2", "n_embd": 12}`},
		{reason: "of any type of value, for the reader to refuse", config: `{"model": {"n_embd": "12"}}`,
			want: `{"model_type": "gpt2", "n_embd": "12"}`},
		{reason: "a model with its type", config: `{"model": {"type": "gpt", "n_embd": 12}}`,
			want: `{"model_type": "gpt2", "n_embd": 12}`},
		{reason: "no vocabulary", config: `{"model": {"n_embd": 12}}`, want: `{"model_type": "gpt2", "n_embd": 12}`},
		{reason: "a model folder's own", config: `{"model_type": "gpt2", "n_embd": 12}`,
			want: `{"model_type": "gpt2", "n_embd": 12}`},
		{reason: "for the reader to refuse", config: `[1]`, want: `[1]`},
	} {
		got, err := pretrainedConfig([]byte(row.config))
		require.NoError(t, err, row.reason)
		require.JSONEq(t, row.want, string(got), row.reason)
	}
	for _, row := range []struct{ config, kind string }{
		{`{"model": {"vocab": 13}}`, "layer"}, {`{"model": {"n_embd": null}}`, ""},
		{`{"model": {"type": "layer", "n_embd": 12}}`, "layer"}, {`{"model": {"type": "dates"}}`, "dates"},
		{`{"model": {"type": 3}}`, "3"}, {`{"model": 7}`, ""}, {`{"model": null}`, ""},
	} {
		_, err := pretrainedConfig([]byte(row.config))
		require.ErrorIs(t, err, pretrained.ErrNotGPT, row.config)
		require.EqualError(t, err, `model.type: got "`+row.kind+`", want "gpt": the model is no GPT`, row.config)
	}
	_, err := pretrainedConfig([]byte(`{"model": {"n_embd": 1, "n_embd": 2}}`))
	require.EqualError(t, err, `model: field "n_embd" comes twice`)
}
