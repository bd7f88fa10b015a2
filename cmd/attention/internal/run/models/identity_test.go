package models

import (
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/run/settings"
	"attention/internal/about"
	"attention/internal/safetensors"
	"attention/layers"
	"attention/train/checkpoint"

	"github.com/stretchr/testify/require"
)

// The description of the config in a run's files is its identity, for each kind of model.
func TestIdentity(t *testing.T) {
	for _, name := range []string{"finished_gpt", "finished_layer", "additive", "causal", "nano-char", "gpt2"} {
		dir := copyOf(t, name)
		c, err := ReadConfig(dir, settings.Train)
		require.NoError(t, err)
		of, err := c.Identity()
		require.NoError(t, err)
		m, err := c.Model.New(blank(t, c))
		require.NoError(t, err)
		in, err := Inspect(dir)
		require.NoError(t, err)
		saved, err := checkpoint.Read(
			checkpoint.Path(filepath.Join(dir, settings.CheckpointsFolder), in.Checkpoints[0]), m.Params())
		require.NoError(t, err)
		require.Equal(t, of, saved.About, name)

		model, err := c.ModelIdentity()
		require.NoError(t, err)
		r, err := safetensors.Open(filepath.Join(dir, settings.ModelFile))
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

// blank returns the scope of parameters of a config's type, without values.
func blank(t testing.TB, c settings.Config) layers.Scope {
	dt, err := c.TensorType()
	require.NoError(t, err)
	return layers.NewBlankParams(dt).Scope("")
}
