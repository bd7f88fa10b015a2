package generate

import (
	"math"
	"testing"

	"attention/internal/refusal"

	"github.com/stretchr/testify/require"
)

func TestConfigValidate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	refusal.Check(t, Config{}, "", refusal.Rows{
		{`{"Capacity": -1}`, "Capacity: got -1, want at least 0"},
		{`{"VocabSize": -1}`, "VocabSize: got -1, want at least 0"},
		{`{"VocabSize": 10}`, "VocabSize: got 10, want 0 to the model's 9"},
		{`{"Temperature": -1}`, "Temperature: got -1, want a finite number of at least 0"},
		{func(c *Config) { c.Temperature = nan }, "Temperature: got NaN, want a finite number of at least 0"},
		{func(c *Config) { c.Temperature = inf }, "Temperature: got +Inf, want a finite number of at least 0"},
		{`{"TopK": -2}`, "TopK: got -2, want at least 0"},
		{`{"TopP": 1.5}`, "TopP: got 1.5, want a number from 0 to 1"},
		{func(c *Config) { c.TopP = nan }, "TopP: got NaN, want a number from 0 to 1"},
		{`{"Room": -1}`, "Room: got -1, want at least 0"},
		{`{"MinP": -0.5}`, "MinP: got -0.5, want a number from 0 to 1"},
		{func(c *Config) { c.MinP = nan }, "MinP: got NaN, want a number from 0 to 1"},
		{`{"RepetitionPenalty": -1}`, "RepetitionPenalty: got -1, want a finite number of at least 0"},
		{func(c *Config) { c.RepetitionPenalty = inf },
			"RepetitionPenalty: got +Inf, want a finite number of at least 0"},
	}, func(c Config) error { return c.validate(9) })
	require.NoError(t, Config{}.Validate())
	require.NoError(t, Config{Capacity: 1, VocabSize: 9, Temperature: 5, TopK: 99, TopP: 1, Seed: -1, Room: 2, MinP: 1,
		RepetitionPenalty: 1e-3}.validate(9))
	require.ErrorContains(t, Config{TopK: -1}.Validate(), "generate: TopK: got -1")
}
