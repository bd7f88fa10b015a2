package pretrained_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"attention/internal/folder"
	"attention/internal/golden"
	"attention/layers"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// families are the model_types that are read.
const families = "gpt2, llama, mistral, qwen2, qwen3, smollm3, olmo2, gemma2, gemma3_text, gpt_neox"

func TestWrongConfigs(t *testing.T) {
	for _, row := range []struct {
		name   string
		config any
		want   string
	}{
		{name: "another model", config: hub.with(fields{"model_type": "mamba"}),
			want: `model_type: got "mamba": family not supported, want one of ` + families},
		{name: "no model", config: fields{}, want: `model_type: got "": family not supported, want one of ` + families},
		{name: "another format", config: hub.with(fields{"format": "onnx"}),
			want: `format: got "onnx", want "torch" or none`},
		{name: "attention without a scale", config: hub.with(fields{"scale_attn_weights": false}),
			want: "scale_attn_weights: got false, want true: attention without a scale is not supported"},
		{name: "a scale for each layer", config: hub.with(fields{"scale_attn_by_inverse_layer_idx": true}),
			want: "scale_attn_by_inverse_layer_idx: got true, want false: a scale for each layer is not supported"},
		{name: "an encoder", config: hub.with(fields{"add_cross_attention": true}),
			want: "add_cross_attention: got true, want false: a decoder with an encoder is not supported"},
		{name: "another activation", config: hub.with(fields{"activation_function": "mish"}),
			want: `activation_function: got "mish", want `},
		{name: "no tokens", config: hub.with(fields{"vocab_size": 0}),
			want: "vocab_size: got 0, want at least 1"},
		{name: "a list", config: []int{1}, want: "got [1], want a JSON object"},
		{name: "a string for a number", config: hub.with(fields{"n_embd": "12"}),
			want: `n_embd: got "12", want a whole number`},
		{name: "not JSON", want: "not JSON: invalid character 'h' looking for beginning of value"},
	} {
		dir := write(t, row.config, gpt(t))
		if row.config == nil {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte("ha"), 0o644))
		}
		_, err := pretrained.ReadGPT(dir)
		require.ErrorContains(t, err, "pretrained: "+dir+": config.json: "+row.want, row.name)
	}
	dir := write(t, hub, gpt(t))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), make([]byte, folder.MaxConfig+1), 0o644))
	_, err := pretrained.ReadGPT(dir)
	require.EqualError(t, err, "pretrained: "+dir+": open "+filepath.Join(dir, "config.json")+
		": got 16777217 bytes, want at most 16777216")
	_, err = pretrained.ReadGPT(without(t, "config.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = pretrained.ReadGPT(write(t, hub.with(fields{"vocabulary": fields{"tokenizer": "bytes"}}), gpt(t)))
	require.ErrorContains(t, err, "config.json: vocabulary: got 256 tokens, want at most vocab_size 13")
	_, err = pretrained.ReadGPT(write(t, hub.with(fields{"vocabulary": fields{"characters": "ba"}}), gpt(t)))
	require.ErrorContains(t, err, "config.json: vocabulary: characters: got 'a' after 'b'")
}

// A key that a GPT-2 config.json leaves out means the default of transformers' GPT2Config; empty and null mean the same
// as left out.
func TestGPT2Config(t *testing.T) {
	all := layers.GPTConfig{VocabSize: 13, ContextLength: 11, EmbedDim: 12, NumLayers: 2, NumHeads: 3,
		Activation: "gelu_new", TieWordEmbeddings: true, Bias: true}
	for more, change := range map[string]func(c *layers.GPTConfig){
		`"bias": null, "n_inner": null, "n_ctx": 11`: func(*layers.GPTConfig) {},
		`"activation_function": "", "bias": false`:   func(c *layers.GPTConfig) { c.Activation, c.Bias = "gelu", false },
		`"n_kv_head": 1, "n_inner": 7, "layer_norm_epsilon": 0.25, "tie_word_embeddings": false`: func(c *layers.GPTConfig) {
			c.NumKVHeads, c.DimFeedforward, c.Eps, c.TieWordEmbeddings = 1, 7, 0.25, false
		},
		`"embd_pdrop": 0.1, "attn_pdrop": 0.2, "resid_pdrop": 0.3, "qkv_bias": false, "initializer": "torch"`: func(
			c *layers.GPTConfig,
		) {
			c.EmbeddingDropout, c.AttentionDropout, c.ResidualDropout = 0.1, 0.2, 0.3
			c.QKVBias, c.Initializer = new(false), layers.TorchInitializer
		},
		`"hidden_size": 6, "max_position_embeddings": 5, "num_attention_heads": 2, "num_hidden_layers": 1`: func(
			c *layers.GPTConfig,
		) {
			c.EmbedDim, c.ContextLength, c.NumHeads, c.NumLayers = 6, 5, 2, 1
		},
	} {
		want := all
		change(&want)
		f, err := pretrained.Parse("nowhere", []byte(`{"model_type": "gpt2", "vocab_size": 13, "n_positions": 11,
			"n_embd": 12, "n_layer": 2, "n_head": 3, `+more+`}`))
		require.NoError(t, err)
		require.Equal(t, want.Decoder(), f.Config(), more)
	}
}

// Parse uses the given contents of config.json and does not read the folder's.
func TestParse(t *testing.T) {
	want, err := pretrained.ReadGPT(write(t, hub, gpt(t)))
	require.NoError(t, err)
	dir := write(t, fields{"model_type": "mamba"}, gpt(t))
	contents, err := json.Marshal(hub.with(fields{"vocabulary": fields{"characters": "abcdefghijklm"}}))
	require.NoError(t, err)
	f, err := pretrained.Parse(dir, contents)
	require.NoError(t, err)
	got, err := f.ReadGPT()
	require.NoError(t, err)
	same(t, want.Params, got.Params)
	require.Equal(t, want.Model.Config(), got.Model.Config())
	spec, err := f.Spec()
	require.NoError(t, err)
	require.Equal(t, pretrained.Spec{Config: got.Model.Config(), Dtype: tensor.Float64, Tokenizer: got.Tokenizer}, spec)

	_, err = pretrained.Open(dir)
	require.ErrorIs(t, err, pretrained.ErrFamily)
	_, err = pretrained.Parse(write(t, hub, gpt(t)), []byte("[1]"))
	require.ErrorContains(t, err, ": config.json: got [1], want a JSON object")
}

// A duplicate key is an error; the last value does not win.
func TestConfigKeyTwice(t *testing.T) {
	dir := without(t, "config.json")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"),
		[]byte(`{"model_type": "gpt2", "n_embd": 12, "n_embd": 24}`), 0o644))
	_, err := pretrained.ReadGPT(dir)
	require.EqualError(t, err, "pretrained: "+dir+`: config.json: field "n_embd" comes twice`)
}

// For any config.json, reading the folder returns an error, or a model no larger than its weights.
func FuzzConfig(f *testing.F) {
	for _, config := range cases {
		text, err := json.Marshal(config)
		require.NoError(f, err)
		f.Add(text)
	}
	file := golden.Load(f, "torch/gpt_folder.safetensors")
	f.Add([]byte(file.Metadata("plain")))
	f.Add([]byte(`{"model_type": "gpt2", "n_layer": 1e9, "n_embd": 1, "vocab_size": -1, "eos_token_id": 1e300}`))
	f.Add([]byte(`{"model_type": "gpt2", "n_layer": 2, "n_embd": 4611686018427387904, "n_head": 3, ` +
		`"vocab_size": 13, "n_positions": 11}`))
	dir := write(f, hub, gpt(f))
	f.Fuzz(func(t *testing.T, text []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), text, 0o644))
		g, err := pretrained.ReadGPT(dir)
		if err != nil {
			require.Less(t, len(err.Error()), 3000)
			return
		}
		require.Equal(t, 4080, g.Params.Count())
	})
}
