package run

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMerge(t *testing.T) {
	for _, row := range []struct{ reason, base, over, want string }{
		{"objects are merged", `{"batch": 1, "sample": {"tokens": 2}}`, `{"sample": {"prompt": "x"}, "order": "y"}`,
			`{"batch": 1, "sample": {"tokens": 2, "prompt": "x"}, "order": "y"}`},
		{"a model of the same type", `{"model": {"type": "gpt", "n_layer": 1, "n_head": 2}}`, `{"model": {"n_head": 3}}`,
			`{"model": {"type": "gpt", "n_layer": 1, "n_head": 3}}`},
		{"a model of another", `{"model": {"n_layer": 1}}`, `{"model": {"width": 3}}`, `{"model": {"type": "layer", "width": 3}}`},
		{"a solver of another name", `{"training": {"solver": {"name": "sgd", "momentum": 1}, "schedule": {"peak": 1, "steps": 2}}}`,
			`{"training": {"solver": {"name": "adam"}}}`, `{"training": {"solver": {"name": "adam"}, "schedule": {"type": "cosine", "steps": 2}}}`},
		{"a solver without a name before", `{"training": {"solver": {"eps": 1}, "schedule": {"peak": 1}}}`,
			`{"training": {"solver": {"name": "adam"}}}`, `{"training": {"solver": {"name": "adam", "eps": 1}, "schedule": {"type": "cosine", "peak": 1}}}`},
		{"a schedule of another type", `{"training": {"schedule": {"peak": 1}}}`, `{"training": {"schedule": {"rate": 1}}}`,
			`{"training": {"schedule": {"type": "constant", "rate": 1}}}`},
		{"a text named anew", `{"text": {"name": "a", "sha256": "b"}}`, `{"text": {"name": "a"}}`, `{"text": {"name": "a"}}`},
		{"a tokenizer named anew", `{"vocabulary": {"tokenizer": "characters", "characters": "ab"}}`,
			`{"vocabulary": {"tokenizer": "characters"}}`, `{"vocabulary": {"tokenizer": "characters"}}`},
		{"sizes that follow from a width", `{"model": {"width": 3, "attention": {"layer": "causal", "d_in": 3, "d_out": 5, "qkv_bias": true}}}`,
			`{"model": {"width": 4}}`, `{"model": {"type": "layer", "width": 4, "attention": {"layer": "causal", "qkv_bias": true}}}`},
		{"sizes beside a dropout", `{"model": {"width": 3, "attention": {"d_out": 5}}}`,
			`{"model": {"attention": {"dropout": 0.5}}}`, `{"model": {"type": "layer", "width": 3, "attention": {"d_out": 5, "dropout": 0.5}}}`},
	} {
		base, err := parseTree([]byte(row.base))
		require.NoError(t, err, row.reason)
		over, err := parseTree([]byte(row.over))
		require.NoError(t, err, row.reason)
		want, err := parseTree([]byte(row.want))
		require.NoError(t, err, row.reason)
		merge(base, over)
		require.Equal(t, want, base, row.reason)
	}
}
