package pretrained_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"attention/internal/golden"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// For any config.json, reading the folder returns an error or a model of the size of its
// weights.
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
