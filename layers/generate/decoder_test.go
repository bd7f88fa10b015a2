package generate_test

import (
	"context"
	"encoding/json"
	"testing"

	"attention/layers"
	"attention/layers/generate"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// decoders are a Llama with windows in every other layer, and one with linear attention in their place.
func decoders(t *testing.T) map[string]*layers.Decoder {
	all := map[string]*layers.Decoder{}
	for name, local := range map[string]string{
		"windows": `"attention": {"embed_dim": 12, "num_heads": 3, "mask": {"type": "sliding_window", "left": 3}}`,
		"linear": `"attention": {"embed_dim": 12, "num_heads": 3},
			"linear": {"delta": true, "decay": "head", "conv_size": 3}`,
	} {
		var c layers.DecoderConfig
		require.NoError(t, json.Unmarshal([]byte(`{"vocab_size": 13, "context_length": 23, "num_layers": 3, "pattern": [0, 1],
			"blocks": [{"attention": {"embed_dim": 12, "num_heads": 6, "num_kv_heads": 2, "rope": {}}, "norm": {"kind": "rms"}},
			{`+local+`, "norm": {"kind": "rms"}}]}`), &c))
		all[name] = must(layers.NewDecoder(layers.NewParams(tensor.Float64, 2).Scope(""), c))
	}
	return all
}

// Decoders without learned positions, and with states that do not go back, continue texts as the whole model does: when
// they slide, and after a reading that failed between the layers.
func TestDecoders(t *testing.T) {
	for name, m := range decoders(t) {
		g := must(generate.New(m, generate.Config{Capacity: 11, Slide: true, Temperature: 1, Seed: 5}))
		text, first := ids(7, 13), 0
		require.NoError(t, g.Prompt(ctx, text))
		for n := range 30 {
			if len(text)-first > 11 {
				first = len(text) - 5
			}
			if n%4 == 2 {
				_, err := g.Next(&countdown{Context: ctx, left: 40})
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}
			window := text[first:]
			text = append(text, draw(t, g, 1)...)
			require.InDeltaSlice(t, scores(t, m.Params(), m, window)[len(window)-1], g.Logits(), 1e-12, "%s, %d tokens", name,
				len(text))
		}
	}
}
