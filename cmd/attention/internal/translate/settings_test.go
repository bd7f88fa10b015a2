package translate

import "attention/cmd/attention/internal/translations"

// settingsOf returns the settings of one step.
func settingsOf(batch, width, heads, blocks int, seed int64) translations.Settings {
	s := translations.NewSettings()
	s.Model.EmbedDim, s.Model.NumHeads, s.Model.NumLayers = width, heads, blocks
	s.Batch, s.Training = batch, translations.TrainingSettings{Steps: 1, Seed: seed}
	return s
}
