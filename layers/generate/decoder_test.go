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

// decoders are a Llama with windows in every other layer, and one with linear attention there instead, whose states
// cannot be truncated.
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

// Every token has the scores that the model gives for its window alone, even after a read that failed between the
// layers. A text that is full continues from its last Capacity/2 tokens.
func TestSlides(t *testing.T) {
	c := config
	c.ContextLength = 17
	all := decoders(t)
	_, all["learned positions"] = small(t, tensor.Float64, c)
	for name, m := range all {
		for _, row := range []struct{ prompt, capacity int }{{23, 17}, {23, 10}, {23, 2}, {23, 1}, {7, 11}} {
			g := must(generate.New(m, generate.Config{Capacity: row.capacity, Slide: true, Temperature: 1, Seed: 5}))
			text, first := ids(row.prompt, 13), 0
			require.NoError(t, g.Prompt(ctx, text))
			for n := range 30 {
				if len(text)-first > row.capacity {
					first = len(text) - max(row.capacity/2, 1)
				}
				if n%4 == 2 {
					_, err := g.Next(&countdown{Context: ctx, left: 30})
					require.ErrorIs(t, err, context.DeadlineExceeded)
				}
				window := text[first:]
				text = append(text, draw(t, g, 1)...)
				require.InDeltaSlice(t, scores(t, m.Params(), m, window)[len(window)-1], g.Logits(), 1e-12,
					"%s, %+v, %d tokens", name, row, len(text))
			}
		}
	}
}
