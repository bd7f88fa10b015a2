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
