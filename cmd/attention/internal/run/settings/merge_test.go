package settings

import (
	"testing"

	"attention/internal/config"

	"github.com/stretchr/testify/require"
)

func TestMerge(t *testing.T) {
	for _, row := range []struct{ reason, base, over, want string }{
		{reason: "objects are merged", base: `{"batch": 1, "sample": {"tokens": 2}}`,
			over: `{"sample": {"prompt": "x"}, "order": "y"}`,
			want: `{"batch": 1, "sample": {"tokens": 2, "prompt": "x"}, "order": "y"}`},
		{reason: "a model of the same type", base: `{"model": {"type": "gpt", "num_layers": 1, "num_heads": 2}}`,
			over: `{"model": {"num_heads": 3}}`, want: `{"model": {"type": "gpt", "num_layers": 1, "num_heads": 3}}`},
		{reason: "a model of another", base: `{"model": {"type": "gpt", "num_layers": 1}}`,
			over: `{"model": {"type": "layer", "embed_dim": 3}}`,
			want: `{"model": {"type": "layer", "embed_dim": 3}}`},
		{reason: "a solver of another name",
			base: `{"training": {"solver": {"name": "sgd", "momentum": 1}, "schedule": {"peak": 1, "steps": 2}}}`,
			over: `{"training": {"solver": {"name": "adam"}}}`,
			want: `{"training": {"solver": {"name": "adam"}, "schedule": {"steps": 2}}}`},
		{reason: "a solver without a name before", base: `{"training": {"solver": {"eps": 1}, "schedule": {"peak": 1}}}`,
			over: `{"training": {"solver": {"name": "adam"}}}`,
			want: `{"training": {"solver": {"name": "adam", "eps": 1}, "schedule": {"peak": 1}}}`},
		{reason: "a schedule of another type", base: `{"training": {"schedule": {"type": "cosine", "peak": 1}}}`,
			over: `{"training": {"schedule": {"type": "constant", "rate": 1}}}`,
			want: `{"training": {"schedule": {"type": "constant", "rate": 1}}}`},
		{reason: "a text named anew", base: `{"text": {"name": "a", "sha256": "b"}}`, over: `{"text": {"name": "a"}}`,
			want: `{"text": {"name": "a"}}`},
		{reason: "a tokenizer named anew", base: `{"vocabulary": {"tokenizer": "characters", "characters": "ab"}}`,
			over: `{"vocabulary": {"tokenizer": "characters"}}`, want: `{"vocabulary": {"tokenizer": "characters"}}`},
		{reason: "sizes that follow from a width",
			base: `{"model": {"embed_dim": 3,
				"attention": {"layer": "causal", "embed_dim": 3, "out_dim": 5, "qkv_bias": true}}}`,
			over: `{"model": {"embed_dim": 4}}`,
			want: `{"model": {"embed_dim": 4, "attention": {"layer": "causal", "qkv_bias": true}}}`},
		{reason: "sizes beside a dropout", base: `{"model": {"embed_dim": 3, "attention": {"out_dim": 5}}}`,
			over: `{"model": {"attention": {"dropout": 0.5}}}`,
			want: `{"model": {"embed_dim": 3, "attention": {"out_dim": 5, "dropout": 0.5}}}`},
	} {
		base, err := config.ParseTree([]byte(row.base))
		require.NoError(t, err, row.reason)
		over, err := config.ParseTree([]byte(row.over))
		require.NoError(t, err, row.reason)
		want, err := config.ParseTree([]byte(row.want))
		require.NoError(t, err, row.reason)
		merged := config.Leaves(base, "")
		merged.Merge(config.Leaves(over, ""), replacements)
		require.Equal(t, config.Leaves(want, ""), merged, row.reason)
	}
}
