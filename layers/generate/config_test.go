package generate

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfigValidate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, row := range []struct {
		want   string
		config Config
	}{
		{want: "generate: Capacity: got -1, want at least 0", config: Config{Capacity: -1}},
		{want: "generate: VocabSize: got -1, want at least 0", config: Config{VocabSize: -1}},
		{want: "generate: VocabSize: got 10, want 0 to the model's 9", config: Config{VocabSize: 10}},
		{want: "generate: Temperature: got -1, want a finite number of at least 0", config: Config{Temperature: -1}},
		{want: "generate: Temperature: got NaN, want a finite number of at least 0", config: Config{Temperature: nan}},
		{want: "generate: Temperature: got +Inf, want a finite number of at least 0", config: Config{Temperature: inf}},
		{want: "generate: TopK: got -2, want at least 0", config: Config{TopK: -2}},
		{want: "generate: TopP: got 1.5, want a number from 0 to 1", config: Config{TopP: 1.5}},
		{want: "generate: TopP: got NaN, want a number from 0 to 1", config: Config{TopP: nan}},
		{want: "generate: Room: got -1, want at least 0", config: Config{Room: -1}},
		{want: "generate: MinP: got -0.5, want a number from 0 to 1", config: Config{MinP: -0.5}},
		{want: "generate: MinP: got NaN, want a number from 0 to 1", config: Config{MinP: nan}},
		{want: "generate: RepetitionPenalty: got -1, want a finite number of at least 0",
			config: Config{RepetitionPenalty: -1}},
		{want: "generate: RepetitionPenalty: got +Inf, want a finite number of at least 0",
			config: Config{RepetitionPenalty: inf}},
	} {
		require.EqualError(t, row.config.validate(9), row.want)
	}
	require.NoError(t, Config{}.Validate())
	require.NoError(t, Config{Capacity: 1, VocabSize: 9, Temperature: 5, TopK: 99, TopP: 1, Seed: -1, Room: 2, MinP: 1,
		RepetitionPenalty: 1e-3}.validate(9))
	require.ErrorContains(t, Config{TopK: -1}.Validate(), "TopK")
}
