package pretrained_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

func TestWrongConfigs(t *testing.T) {
	for want, config := range map[string]any{
		`model_type: got "llama", want "gpt2": the model is no GPT`:                                      hub.with(fields{"model_type": "llama"}),
		`model_type: got "", want "gpt2": the model is no GPT`:                                           fields{},
		`format: got "onnx", want "torch" or none`:                                                       hub.with(fields{"format": "onnx"}),
		"scale_attn_weights: got false, want true: attention without a scale is not supported":           hub.with(fields{"scale_attn_weights": false}),
		"scale_attn_by_inverse_layer_idx: got true, want false: a scale for each layer is not supported": hub.with(fields{"scale_attn_by_inverse_layer_idx": true}),
		"add_cross_attention: got true, want false: GPT-2 with an encoder is not supported":              hub.with(fields{"add_cross_attention": true}),
		`layers: GPT: Activation: got "mish", want `:                                                     hub.with(fields{"activation_function": "mish"}),
		"layers: GPT: VocabSize: got 0, want at least 1":                                                 hub.with(fields{"vocab_size": 0}),
		"got [1], want a JSON object":                                                                    []int{1},
		`n_embd: got "12", want a whole number`:                                                          hub.with(fields{"n_embd": "12"}),
		"not JSON: invalid character 'h' looking for beginning of value":                                 nil,
	} {
		dir := write(t, config, gpt(t))
		if config == nil {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte("ha"), 0o644))
		}
		_, err := pretrained.ReadGPT(dir)
		require.ErrorContains(t, err, "pretrained: "+dir+": config.json: "+want)
	}
	dir := write(t, hub, gpt(t))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), make([]byte, 1<<23+1), 0o644))
	_, err := pretrained.ReadGPT(dir)
	require.EqualError(t, err, "pretrained: "+dir+": config.json: more than 8388608 bytes, want a smaller file")
	_, err = pretrained.ReadGPT(without(t, "config.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = pretrained.ReadGPT(write(t, hub.with(fields{"vocabulary": fields{"tokenizer": "bytes"}}), gpt(t)))
	require.ErrorContains(t, err, "config.json: vocabulary: got 256 tokens, want at most vocab_size 13")
	_, err = pretrained.ReadGPT(write(t, hub.with(fields{"vocabulary": fields{"characters": "ba"}}), gpt(t)))
	require.ErrorContains(t, err, "config.json: vocabulary: characters: got 'a' after 'b'")
}

// A Reader's Config replaces the contents of config.json, and its error names the file.
func TestReaderConfig(t *testing.T) {
	want, err := pretrained.ReadGPT(write(t, hub, gpt(t)))
	require.NoError(t, err)
	dir := write(t, fields{"inner": hub.with(fields{"vocabulary": fields{"characters": "abcdefghijklm"}})}, gpt(t))
	r := pretrained.Reader{Config: func(contents []byte) ([]byte, error) {
		var outer struct{ Inner json.RawMessage }
		if err := json.Unmarshal(contents, &outer); err != nil || outer.Inner == nil {
			return nil, errors.New("no inner config")
		}
		return outer.Inner, nil
	}}
	got, err := r.ReadGPT(dir)
	require.NoError(t, err)
	same(t, want.Params, got.Params)
	require.Equal(t, want.Model.Config(), got.Model.Config())
	spec, err := r.ReadSpec(dir)
	require.NoError(t, err)
	require.Equal(t, pretrained.Spec{Config: got.Model.Config(), Dtype: tensor.Float64, Tokenizer: got.Tokenizer}, spec)

	_, err = pretrained.ReadGPT(dir)
	require.ErrorIs(t, err, pretrained.ErrNotGPT)
	dir = write(t, hub, gpt(t))
	_, err = r.ReadGPT(dir)
	require.EqualError(t, err, "pretrained: "+dir+": config.json: no inner config")
}

// A duplicate key is an error and does not get the last value.
func TestConfigKeyTwice(t *testing.T) {
	dir := without(t, "config.json")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"),
		[]byte(`{"model_type": "gpt2", "n_embd": 12, "n_embd": 24}`), 0o644))
	_, err := pretrained.ReadGPT(dir)
	require.EqualError(t, err, "pretrained: "+dir+`: config.json: field "n_embd" comes twice`)
}
