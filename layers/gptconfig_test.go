package layers_test

import (
	"encoding/json"
	"testing"

	"attention/layers"

	"github.com/stretchr/testify/require"
)

// Any JSON is a config that comes back from its own JSON as it was, or an error.
func FuzzGPTConfig(f *testing.F) {
	for _, text := range []string{
		`{"vocab_size":50257,"context_length":1024,"embed_dim":768,"num_layers":12,"num_heads":12,` +
			`"activation":"gelu_new","eps":1e-05}`,
		`{"vocab_size":65,"context_length":64,"embed_dim":128,"num_layers":4,"num_heads":4,"num_kv_heads":2,"bias":false,` +
			`"tie_word_embeddings":false,"attention_dropout":0.1}`,
		`{"embed_dim":-1,"num_heads":0,"dim_feedforward":9223372036854775807}`, `null`, `[]`, `{"bias":null}`,
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
