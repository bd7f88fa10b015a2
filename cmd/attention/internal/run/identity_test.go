package run

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"attention/internal/about"
	"attention/internal/safetensors"
	"attention/layers"
	"attention/train/checkpoint"

	"github.com/stretchr/testify/require"
)

// What the files of runs say of their config is its identity, for a model of each kind.
func TestIdentity(t *testing.T) {
	for _, name := range []string{"finished_gpt", "finished_layer", "additive", "causal", "nano-char", "gpt2"} {
		dir := copyOf(t, name)
		c, err := ReadConfig(dir)
		require.NoError(t, err)
		of, err := c.Identity()
		require.NoError(t, err)
		m, err := c.Model.New(blank(t, c))
		require.NoError(t, err)
		in, err := Inspect(dir)
		require.NoError(t, err)
		saved, err := checkpoint.Read(
			checkpoint.Path(filepath.Join(dir, CheckpointsFolder), in.Checkpoints[0]), m.Params())
		require.NoError(t, err)
		require.Equal(t, of, saved.About, name)

		model, err := c.ModelIdentity()
		require.NoError(t, err)
		r, err := safetensors.Open(filepath.Join(dir, ModelFile))
		require.NoError(t, err)
		require.Equal(t, about.ModelMetadata(model, in.Steps, 0), r.Metadata())
		require.NoError(t, r.Close())
		for path := range model {
			require.Contains(t, of, path)
		}
		require.Contains(t, of, "training.schedule.peak")
		require.NotContains(t, model, "training.schedule.peak")
	}
}

// Every value that a model's weights depend on is compared, and named by its flag.
func TestWeightPaths(t *testing.T) {
	names, paths := weightPaths()
	for _, name := range []string{"finished_gpt", "finished_layer", "gpt", "additive"} {
		c, err := ReadConfig(copyOf(t, name))
		require.NoError(t, err)
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

// blank returns the scope of parameters of a config's type, without values.
func blank(t testing.TB, c Config) layers.Scope {
	dt, err := c.TensorType()
	require.NoError(t, err)
	return layers.NewBlankParams(dt).Scope("")
}
