package layers_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"attention/layers"

	"github.com/stretchr/testify/require"
)

// The config's JSON is Hugging Face's config.json; it needs no other key.
func TestGPTConfigJSON(t *testing.T) {
	const text = `{"activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1,
		"bos_token_id": 50256, "embd_pdrop": 0.1, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05,
		"model_type": "gpt2", "n_ctx": 1024, "n_embd": 768,
		"n_head": 12, "n_inner": null, "n_layer": 12, "n_positions": 1024, "resid_pdrop": 0.1, "vocab_size": 50257}`
	want := released(12, 768, 12)
	want.Activation, want.Eps = "gelu_new", 1e-5
	want.EmbeddingDropout, want.AttentionDropout, want.ResidualDropout = 0.1, 0.1, 0.1
	got := layers.GPT2Defaults()
	require.NoError(t, json.Unmarshal([]byte(text), &got))
	require.Equal(t, want, got)
	for _, change := range []func(c *layers.GPTConfig){
		func(c *layers.GPTConfig) {},
		func(c *layers.GPTConfig) { c.TieWordEmbeddings = false },
		func(c *layers.GPTConfig) { c.Bias = false },
		func(c *layers.GPTConfig) { c.QKVBias, c.Initializer = new(false), layers.TorchInitializer },
		func(c *layers.GPTConfig) { c.NumKVHeads, c.DimFeedforward = 2, 7 },
	} {
		c := want
		change(&c)
		out := must(json.Marshal(c))
		var back layers.GPTConfig
		require.NoError(t, json.Unmarshal(out, &back))
		require.Equal(t, c, back)
		require.Contains(t, string(out), fmt.Sprintf(`"tie_word_embeddings":%v,"bias":%v`, c.TieWordEmbeddings, c.Bias))
	}
	require.EqualError(t, json.Unmarshal([]byte(`{"n_embd": "x"}`), &got), `n_embd: got "x", want a whole number`)
	require.Equal(t, want, got, "a config that cannot be read changes nothing")
}

// What is absent in JSON is as it was, in the zero config too.
func TestGPTConfigMerges(t *testing.T) {
	for _, c := range []struct {
		before layers.GPTConfig
		text   string
		want   layers.GPTConfig
		reason string
	}{
		{before: layers.GPTConfig{}, text: `{}`, want: layers.GPTConfig{Activation: "gelu"}, reason: "as in Go"},
		{before: layers.GPTConfig{}, text: `{"activation_function": "", "bias": true}`,
			want: layers.GPTConfig{Activation: "gelu", Bias: true}, reason: "empty means gelu, as in Go"},
		{before: layers.GPT2Defaults(), text: `{}`,
			want: layers.GPTConfig{Activation: "gelu_new", TieWordEmbeddings: true, Bias: true}, reason: "as in GPT-2"},
		{before: layers.GPT2Defaults(), text: `{"bias": null}`, want: layers.GPT2Defaults(), reason: "null is absent"},
		{before: layers.GPT2Defaults(), text: `{"bias": false}`,
			want: layers.GPTConfig{Activation: "gelu_new", TieWordEmbeddings: true}, reason: "given"},
		{before: layers.GPTConfig{NumLayers: 2, Activation: "relu"}, text: `{"n_head": 3}`,
			want: layers.GPTConfig{NumLayers: 2, NumHeads: 3, Activation: "relu"}, reason: "kept"},
		{before: layers.GPTConfig{NumLayers: 2}, text: `{"n_head": 3}`,
			want: layers.GPTConfig{NumLayers: 2, NumHeads: 3, Activation: "gelu"}, reason: "empty means gelu"},
	} {
		got := c.before
		require.NoError(t, json.Unmarshal([]byte(c.text), &got))
		require.Equal(t, c.want, got, c.reason)
	}
	require.Contains(t, string(must(json.Marshal(layers.GPTConfig{}))), `"activation_function":"gelu"`)
}

// Any JSON is a config that comes back from its own JSON as it was, or an error.
func FuzzGPTConfig(f *testing.F) {
	for _, text := range []string{
		`{"vocab_size":50257,"n_positions":1024,"n_embd":768,"n_layer":12,"n_head":12,` +
			`"activation_function":"gelu_new","layer_norm_epsilon":1e-05}`,
		`{"vocab_size":65,"n_positions":64,"n_embd":128,"n_layer":4,"n_head":4,"n_kv_head":2,"bias":false,` +
			`"tie_word_embeddings":false,"attn_pdrop":0.1}`,
		`{"n_embd":-1,"n_head":0,"n_inner":9223372036854775807}`, `null`, `[]`, `{"bias":null}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var c layers.GPTConfig
		if json.Unmarshal(text, &c) != nil || c.Validate() != nil {
			return
		}
		require.Positive(t, must(layers.Declare(layers.NewGPT, c)).Count())
		again := must(json.Marshal(c))
		var back layers.GPTConfig
		require.NoError(t, json.Unmarshal(again, &back))
		require.Equal(t, c, back)
	})
}
