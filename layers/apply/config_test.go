package apply

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"attention/internal/config"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// TestApplyWrongConfig: an error names the file, the field by its path in JSON, what it
// got and what it wants. The packages that return the errors test their full wording.
func TestApplyWrongConfig(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{text: ``, want: "not JSON: unexpected end of JSON input, "},
		{text: `{"layer":`, want: "not JSON: unexpected end of JSON input, "},
		{text: `{"layer": "simple"} {}`, want: "not JSON: invalid character '{' after top-level value, "},
		{text: `{"layer": "simple", "dropout": NaN}`,
			want: "not JSON: invalid character 'N' looking for beginning of value, "},
		{text: `["layer", "simple"]`, want: `got ["layer", "simple"], `},
		{text: `null`, want: `got null, `},
		{text: `{}`,
			want: `layer: got "", want one of simple, self_v1, self_v2, causal, multi_head_wrapper, ` +
				"multi_head, additive, attention"},
		{text: `{"layer": 3}`, want: "layer: got 3, "},
		{text: `{"layer": null}`, want: `layer: got "", `},
		{text: `{"layer": "Causal"}`, want: `layer: got "Causal", `},
		{text: `{"layer": "causal", "embed_dim": 5, "embed_dim": 5, "out_dim": 6}`, want: `field "embed_dim" comes twice`},
		{text: `{"layer": "causal", "D_in": 5, "dout": 6}`,
			want: `unknown field "D_in", "dout"; it has layer, embed_dim, out_dim, context_length, num_heads, qkv_bias, dropout`},
		{text: `{"layer": "causal", "embed_dim": 5, "out_dim": 6, "key_dim": 0}`, want: `unknown field "key_dim"; it has layer, embed_dim, `},
		{text: `{"layer": "causal", "embed_dim": 5, "out_dim": 6, "average_weights": true}`,
			want: `unknown field "average_weights"; `},
		{text: `{"layer": "causal", "embed_dim": 5}`, want: "out_dim: got 0, "},
		{text: `{"layer": "causal", "embed_dim": 0, "out_dim": 6}`, want: "embed_dim: got 0, "},
		{text: `{"layer": "causal", "embed_dim": -5, "out_dim": 6}`, want: "embed_dim: got -5, "},
		{text: `{"layer": "causal", "embed_dim": 5.5, "out_dim": 6}`, want: "embed_dim: got 5.5, "},
		{text: `{"layer": "causal", "embed_dim": "5", "out_dim": 6}`, want: `embed_dim: got "5", `},
		{text: `{"layer": "causal", "embed_dim": null, "out_dim": 6}`, want: "embed_dim: got null, "},
		{text: `{"layer": "causal", "embed_dim": 5, "out_dim": 2147483648}`, want: "out_dim: got 2147483648, "},
		{text: `{"layer": "causal", "embed_dim": 5, "out_dim": 99999999999999999999}`, want: "out_dim: got 99999999999999999999, "},
		{text: `{"layer": "causal", "embed_dim": 5, "out_dim": 6, "context_length": -1}`, want: "context_length: got -1, "},
		{text: `{"layer": "causal", "embed_dim": 5, "out_dim": 6, "context_length": 2147483648}`,
			want: "context_length: got 2147483648, "},
		{text: `{"layer": "causal", "embed_dim": 5, "out_dim": 6, "num_heads": 65537}`, want: "num_heads: got 65537, "},
		{text: `{"layer": "causal", "embed_dim": 5, "out_dim": 6, "qkv_bias": 1}`, want: "qkv_bias: got 1, "},
		{text: `{"layer": "causal", "embed_dim": 5, "out_dim": 6, "dropout": 1}`, want: "dropout: got 1, "},
		{text: `{"layer": "causal", "embed_dim": 5, "out_dim": 6, "dropout": -0.1}`, want: "dropout: got -0.1, "},
		{text: `{"layer": "causal", "embed_dim": 5, "out_dim": 6, "dropout": 1e999}`, want: "dropout: got 1e999, "},
		{text: `{"layer": "simple", "dropout": 2}`, want: "dropout: got 2, "},
		{text: `{"layer": "simple", "embed_dim": -1}`, want: "embed_dim: got -1, "},
		{text: `{"layer": "multi_head", "embed_dim": 5, "out_dim": 6}`, want: "num_heads: got 0, "},
		{text: `{"layer": "multi_head", "embed_dim": 5, "out_dim": 6, "num_heads": 4}`,
			want: "num_heads: got 4, want a divisor of out_dim=6"},
		{text: `{"layer": "multi_head_wrapper", "embed_dim": 5, "out_dim": 6, "num_heads": 1000000000}`,
			want: "num_heads: got 1000000000, "},
		{text: `{"layer": "causal", "embed_dim": 2147483647, "out_dim": 2147483647, "qkv_bias": true}`,
			want: "W_query.weight: shape (2147483647, 2147483647), want at most 2147483647 elements"},
		{text: `{"layer": "self_v1", "embed_dim": 2147483647, "out_dim": 2147483647}`,
			want: "W_query: shape (2147483647, 2147483647), "},
		{text: `{"layer": "additive", "query_dim": 5, "key_dim": 2147483647, "attn_dim": 2}`,
			want: "key_dim: got 2147483647 for attn_dim=2, "},
		{text: `{"layer": "additive", "query_dim": 5, "key_dim": 3}`, want: "attn_dim: got 0, "},
		{text: `{"layer": "additive", "query_dim": 5, "key_dim": 3, "attn_dim": -1}`, want: "attn_dim: got -1, "},
		{text: `{"layer": "additive", "query_dim": 5, "key_dim": 3, "attn_dim": 2, "dropout": 0}`,
			want: `unknown field "dropout"; it has layer, query_dim, key_dim, attn_dim`},
	} {
		w := newWrongCall(t)
		w.text(c.text)
		requireBegins(t, w, c.text, c.want)
	}
}

// requireBegins checks how the error about layer.json begins.
func requireBegins(t *testing.T, c *wrongCall, text, want string) {
	t.Helper()
	got, ok := strings.CutPrefix(c.message(), "layer.json: ")
	require.True(t, ok, text)
	require.Equal(t, want, got[:min(len(got), len(want))], "%s: %s", text, got)
}

// TestApplyAttentionWrongConfig is TestApplyWrongConfig for the layer attention.
func TestApplyAttentionWrongConfig(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{text: `"numheads": 2, "qkv_Bias": true`,
			want: `unknown field "numheads", "qkv_Bias"; it has layer, average_weights, `},
		{text: `"out_dim": 6`, want: "num_heads: got 0, "},
		{text: `"num_heads": 4`, want: "num_heads: got 4, want a divisor of out_dim=6"},
		{text: `"num_heads": 65537, "head_dim": 1`, want: "num_heads: got 65537, "},
		{text: `"num_heads": 4, "num_kv_heads": 3, "head_dim": 2`,
			want: "num_kv_heads: got 3, want 0 or a divisor of num_heads=4"},
		{text: `"num_heads": 2, "num_kv_heads": -1`, want: "num_kv_heads: got -1, "},
		{text: `"num_heads": 2, "kdim": 1.5`, want: "kdim: got 1.5, "},
		{text: `"num_heads": 2, "context_length": 2147483648`, want: "context_length: got 2147483648, "},
		{text: `"num_heads": 2, "out_bias": "yes"`, want: `out_bias: got "yes", `},
		{text: `"num_heads": 2, "average_weights": 1`, want: `average_weights: got 1, `},
		{text: `"num_heads": 2, "layout": "bert"`,
			want: `layout: got "bert", want one of book, torch, gpt2, llama, per_head, raw`},
		{text: `"num_heads": 2, "layout": null`, want: `layout: got null, `},
		{text: `"num_heads": 2, "layout": "gpt2", "vdim": 5`,
			want: "vdim: got 5 with layout=gpt2, want one of the two: one product makes queries, keys and values"},
		{text: `"num_heads": 2, "align": ""`, want: `align: got "", want one of `},
		{text: `"num_heads": 2, "mask": {"type": "prefix", "n": 1.5}`, want: "mask.n: got 1.5, "},
		{text: `"num_heads": 2, "scale": -1`, want: "scale: got -1, "},
		{text: `"num_heads": 2, "scale": 1e999`, want: "scale: got 1e999, "},
		{text: `"num_heads": 2, "softcap": -1`, want: "softcap: got -1, "},
		{text: `"num_heads": 2, "qk_norm": "layer"`, want: `qk_norm: got "layer", want one of l2, rms`},
		{text: `"num_heads": 2, "qk_norm_eps": 1e-5`, want: "qk_norm_eps: got 1e-05 without qk_norm, "},
		{text: `"num_heads": 2, "rope": true`, want: "rope: got true, "},
		{text: `"num_heads": 2, "rope": null`, want: "rope: got null, "},
		{text: `"num_heads": 2, "head_dim": 4, "rope": {"theta": 1}`,
			want: `rope: unknown field "theta"; it has dims, at_end, base, interleaved, scaling, factor`},
		{text: `"num_heads": 2, "head_dim": 4, "rope": {"dims": 2, "dims": 2}`, want: `rope: field "dims" comes twice`},
		{text: `"num_heads": 2, "head_dim": 4, "rope": {"base": 0.5}`, want: "rope.base: got 0.5, "},
		{text: `"num_heads": 2, "head_dim": 4, "rope": {"dims": 6}`,
			want: "rope.dims: got 6, want an even number from 0 to D=4"},
		{text: `"num_heads": 2, "rope": {}`, want: "rope.dims: got 0 for D=3, "},
		{text: `"num_heads": 2, "head_dim": 4, "rope": {"scaling": "dynamic"}`,
			want: `rope.scaling: got "dynamic", want one of none, linear, ntk, llama3, yarn`},
		{text: `"num_heads": 2, "head_dim": 4, "rope": {"scaling": "ntk"}`, want: "rope.factor: got 0, "},
		{text: `"num_heads": 2, "head_dim": 4, "rope": {"factor": 2}`, want: "rope.factor: got 2 without scaling, want 0"},
		{text: `"num_heads": 2, "relative_bias": []`, want: "relative_bias: got [], "},
		{text: `"num_heads": 2, "relative_bias": {"buckets": -1}`, want: "relative_bias.buckets: got -1, "},
		{text: `"num_heads": 2, "relative_bias": {"heads": 1}`,
			want: `relative_bias: unknown field "heads"; it has buckets, `},
		{text: `"num_heads": 2, "relative_bias": {"buckets": 3}`,
			want: "relative_bias.buckets: got 3, want an even number from 4 on, or if unidirectional any from 2 on"},
		{text: `"num_heads": 2, "relative_bias": {"max_distance": 2147483648}`,
			want: "relative_bias.max_distance: got 2147483648, "},
		{text: `"num_heads": 2, "renormalize": true`, want: `unknown field "renormalize"; it has layer, `},
		{text: `"num_heads": 2, "dropout": 1`, want: "dropout: got 1, "},
		{text: `"num_heads": 2, "context_only": true, "out_bias": true`,
			want: "out_bias: got true with context_only, want one of the two"},
		{text: `"num_heads": 65536, "head_dim": 2147483647`,
			want: "num_heads: got 65536, which are 140737488289792 wide together, "},
	} {
		w := newWrongCallOf(t, "attention")
		w.text(`{"layer": "attention", "embed_dim": 6, ` + c.text + `}`)
		requireBegins(t, w, c.text, c.want)
	}
}

// TestLayerIsTheConfig: a layer.json of attention is the JSON of the layer's config, and
// a config survives writing and reading.
func TestLayerIsTheConfig(t *testing.T) {
	for _, name := range caseNames(t) {
		f := caseFiles(t, name)
		text, err := os.ReadFile(f.config)
		require.NoError(t, err)
		if !strings.HasPrefix(name, attentionName) {
			continue
		}
		var a attention
		require.NoError(t, config.Decode(text, new(envelope), &a.averaging, &a.AttentionConfig))
		written, err := json.Marshal(a.AttentionConfig)
		require.NoError(t, err)
		f = f.withConfig(t, fmt.Sprintf(`{"layer": "attention", "average_weights": %t, %s`, a.AverageWeights, written[1:]))
		compareWithTorch(t, name, f, nil, tensor.Float64, 1e-10)
	}
}

var oneLineError = regexp.MustCompile(`^[^\n]+$`)

// Any text gives a layer or an error of one line. Sizes are checked before anything is
// allocated for them.
func FuzzLayerConfig(f *testing.F) {
	files, err := filepath.Glob("../../testdata/apply/*/layer.json")
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte(`{"layer":"attention","embed_dim":4,"num_heads":2,"mask":{"type":"sliding_window","left":1,"right":-1},"rope":{"dims":3},` +
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
