package translations

import (
	"testing"

	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/session"
	"attention/train/checkpoint"

	"github.com/stretchr/testify/require"
)

// TestSettingsAreRead: config.json holds all settings.
func TestSettingsAreRead(t *testing.T) {
	dir := t.TempDir()
	s := settingsOf(7, 6, 2, 3, 5)
	f, err := session.NewFolder(dir, checkpoint.Config{Keep: 1})
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, f.WriteConfig(s))
	in, err := Inspect(dir)
	require.NoError(t, err)
	got, err := ReadSettings(in)
	require.NoError(t, err)
	require.Equal(t, s, got)
	_, err = models.ReadConfig(dir)
	require.ErrorContains(t, err, "got a run of attention translate, want one of attention train; "+
		"resume it with: attention translate --resume "+dir,
		"attention train refuses it by its type")
}

// settingsOf returns the settings of one step.
func settingsOf(batch, width, heads, blocks int, seed int64) Settings {
	s := NewSettings()
	s.Model.EmbedDim, s.Model.NumHeads, s.Model.NumLayers = width, heads, blocks
	s.Batch, s.Training = batch, TrainingSettings{Steps: 1, Seed: seed}
	return s
}
