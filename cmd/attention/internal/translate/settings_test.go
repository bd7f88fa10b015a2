package translate

import "attention/cmd/attention/internal/dates"

// settingsOf returns the settings of one step.
func settingsOf(batch, width, heads, blocks int, seed int64) dates.Settings {
	s := dates.NewSettings()
	s.Model.Width, s.Model.Heads, s.Model.Blocks = width, heads, blocks
	s.Batch, s.Training = batch, dates.TrainingSettings{Steps: 1, Seed: seed}
	return s
}
