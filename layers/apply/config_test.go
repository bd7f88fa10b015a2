package apply

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestApplyWrongConfig: an error names the file, the field by its path in JSON, what it got and what it wants. The
// packages that return the errors test all of them.
func TestApplyWrongConfig(t *testing.T) {
	const (
		all    = "simple, self_v1, self_v2, causal, multi_head_wrapper, multi_head, additive, attention, linear_attention"
		causal = `{"layer": "causal", "embed_dim": 5, "out_dim": 6, `
		heads  = `{"layer": "attention", "embed_dim": 6, "num_heads": 2, `
		ropes  = heads + `"head_dim": 4, "rope": `
	)
	for _, row := range []struct{ text, want string }{
		{``, "not JSON: unexpected end of JSON input, want one JSON object"},
		{`["layer", "simple"]`, `got ["layer", "simple"], want a JSON object`},
		{`null`, `got null, want a JSON object`},
		{`{}`, `layer: got "", want one of ` + all},
		{`{"layer": 3}`, "layer: got 3, want a string"},
		{`{"layer": null}`, `layer: got "", want one of ` + all},
		{causal + `"embed_dim": 5}`, `field "embed_dim" comes twice`},
		{causal + `"D_in": 5, "key_dim": 6, "average_weights": true}`, `unknown field "D_in", "average_weights", ` +
			`"key_dim"; it has layer, embed_dim, out_dim, context_length, num_heads, qkv_bias, dropout`},
		{`{"layer": "additive", "query_dim": 5, "key_dim": 3, "attn_dim": 2, "dropout": 0}`,
			`unknown field "dropout"; it has layer, query_dim, key_dim, attn_dim`},
		{`{"layer": "causal", "embed_dim": null, "out_dim": 6}`, "embed_dim: got null, want a whole number"},
		{causal + `"context_length": 2147483648}`, "context_length: got 2147483648, want at most 2147483647"},
		{heads + `"context_length": 2147483648}`, "context_length: got 2147483648, want at most 2147483647"},
		{`{"layer": "multi_head", "embed_dim": 5, "out_dim": 6, "num_heads": 4}`,
			"num_heads: got 4, want a divisor of out_dim=6"},
		{`{"layer": "attention", "embed_dim": 6, "num_heads": 4}`, "num_heads: got 4, want a divisor of out_dim=6"},
		{`{"layer": "causal", "embed_dim": 2147483647, "out_dim": 2147483647}`,
			"W_query.weight: shape (2147483647, 2147483647), want at most 2147483647 elements"},
		{heads + `"average_weights": 1}`, `average_weights: got 1, want true or false`},
		{heads + `"layout": null}`, `layout: got null, want a string`},
		{heads + `"align": ""}`, `align: got "", want one of square, upper_left, lower_right`},
		{heads + `"mask": {"type": "prefix", "n": 1.5}}`, "mask.n: got 1.5, want a whole number"},
		{heads + `"rope": null}`, "rope: got null, want a JSON object"},
		{ropes + `{"dims": 2, "dims": 2}}`, `rope: field "dims" comes twice`},
		{ropes + `{"dims": 6}}`, "rope.dims: got 6, want an even number from 0 to D=4"},
		{ropes + `{"factor": 2}}`, "rope.factor: got 2 without scaling, want 0"},
		{heads + `"relative_bias": []}`, "relative_bias: got [], want a JSON object"},
		{heads + `"relative_bias": {"heads": 1}}`,
			`relative_bias: unknown field "heads"; it has buckets, max_distance, unidirectional`},
		{heads + `"relative_bias": {"buckets": 3}}`,
			"relative_bias.buckets: got 3, want an even number from 4 on, or if unidirectional any from 2 on"},
		{heads + `"context_only": true, "out_bias": true}`, "out_bias: got true with context_only, want one of the two"},
	} {
		c := newWrongCall(t)
		c.text(row.text)
		require.Equal(t, "layer.json: "+row.want, c.message(), row.text)
	}
	c := newWrongCall(t)
	c.text(`{"layer": "attention", "numheads": 2, "qkv_Bias": true, "renormalize": true}`)
	require.Contains(t, c.message(), `layer.json: unknown field "numheads", "qkv_Bias", "renormalize"; it has layer, `+
		"average_weights, mask, embed_dim, ")
}

var oneLineError = regexp.MustCompile(`^[^\n]+$`)

// Any text gives a layer or an error of one line. Sizes are checked before anything is
// allocated for them.
func FuzzLayerConfig(f *testing.F) {
	files := must(filepath.Glob("../../testdata/apply/*/layer.json"))
	require.NotEmpty(f, files)
	for _, path := range files {
		f.Add(must(os.ReadFile(path)))
	}
	f.Add([]byte(`{"layer":"attention","embed_dim":4,"num_heads":2,"mask":{"type":"sliding_window","left":1,"right":-1},` +
		`"rope":{"dims":3},` +
		`"relative_bias":{"buckets":1}}`))
	f.Add([]byte(`{"layer":"attention","embed_dim":4,"num_heads":2,"layout":"per_head","context_only":true,` +
		`"mask":{"type":"or","of":[{"type":"not","of":{"type":"causal"}},{"type":"prefix","n":1}]}}`))
	f.Add([]byte(`{"layer":"attention","embed_dim":4,"num_heads":2,"mask":{"type":"or","of":[]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		layer, err := Parse(text)
		if err != nil {
			require.Regexp(t, oneLineError, err.Error())
			return
		}
		require.NotEmpty(t, layer.Name)
		require.NotEmpty(t, layer.inputs())
		for name, shape := range layer.parameters.Shapes() {
			require.NotEmpty(t, name)
			require.Positive(t, shape.TotalSize(), name)
		}
	})
}
