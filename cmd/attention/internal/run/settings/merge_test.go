package settings

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"attention/internal/config"
	"attention/internal/golden"

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

// Every value that a model's weights depend on is compared, and named by its flag.
func TestWeightPaths(t *testing.T) {
	names, paths := weightPaths()
	for _, name := range []string{"finished_gpt", "finished_layer", "gpt", "additive"} {
		path, err := golden.Path(filepath.Join("runs", name, "run", ConfigFile))
		require.NoError(t, err)
		contents, err := os.ReadFile(path)
		require.NoError(t, err)
		var c Config
		require.NoError(t, config.Decode(contents, &c))
		of, err := c.ModelIdentity()
		require.NoError(t, err)
		require.NoError(t, c.checkFits(of))
		for _, path := range slices.Sorted(maps.Keys(of)) {
			other := maps.Clone(of)
			other[path] = "another"
			err := c.checkFits(other)
			switch {
			case path == "vocabulary.tokenizer" || path == "vocabulary.characters":
				require.ErrorContains(t, err, "got other tokens than those of --tokenizer characters", path)
			case slices.Contains(paths, path):
				require.ErrorContains(t, err, names[path]+": got "+of[path]+", want another, that of the weights")
			default: // dropout, and sizes that follow from those that are compared
				require.NoError(t, err, path)
				require.Contains(t, []string{"model.embedding_dropout", "model.attention_dropout", "model.residual_dropout",
					"model.attention.embed_dim", "model.attention.out_dim", "model.attention.context_length",
					"model.attention.query_dim", "model.attention.key_dim", "model.attention.attn_dim"}, path)
			}
		}
	}
}
