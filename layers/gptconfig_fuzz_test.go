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
		`{"vocab_size":50257,"n_positions":1024,"n_embd":768,"n_layer":12,"n_head":12,"activation_function":"gelu_new","layer_norm_epsilon":1e-05}`,
		`{"vocab_size":65,"n_positions":64,"n_embd":128,"n_layer":4,"n_head":4,"n_kv_head":2,"bias":false,"tie_word_embeddings":false,"attn_pdrop":0.1}`,
		`{"n_embd":-1,"n_head":0,"n_inner":9223372036854775807}`, `null`, `[]`, `{"bias":null}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var c layers.GPTConfig
		if json.Unmarshal(text, &c) != nil || c.Validate() != nil {
			return
		}
		p, err := layers.Declare(layers.NewGPT, c)
		require.NoError(t, err)
		require.Positive(t, p.Count())
		again, err := json.Marshal(c)
		require.NoError(t, err)
		var back layers.GPTConfig
		require.NoError(t, json.Unmarshal(again, &back))
		require.Equal(t, c, back)
	})
}
