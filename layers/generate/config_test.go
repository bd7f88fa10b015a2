package generate

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfigValidate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for want, c := range map[string]Config{
		"generate: Capacity: got -1, want at least 0":                         {Capacity: -1},
		"generate: VocabSize: got -1, want at least 0":                        {VocabSize: -1},
		"generate: VocabSize: got 10, want 0 to the model's 9":                {VocabSize: 10},
		"generate: Temperature: got -1, want a finite number of at least 0":   {Temperature: -1},
		"generate: Temperature: got NaN, want a finite number of at least 0":  {Temperature: nan},
		"generate: Temperature: got +Inf, want a finite number of at least 0": {Temperature: inf},
		"generate: TopK: got -2, want at least 0":                             {TopK: -2},
		"generate: TopP: got 1.5, want a probability":                         {TopP: 1.5},
		"generate: TopP: got NaN, want a probability":                         {TopP: nan},
	} {
		require.EqualError(t, c.validate(9), want)
	}
	require.NoError(t, Config{}.Validate())
	require.NoError(t, Config{Capacity: 1, VocabSize: 9, Temperature: 5, TopK: 99, TopP: 1, Seed: -1}.validate(9))
	require.ErrorContains(t, Config{TopK: -1}.Validate(), "TopK")
}
