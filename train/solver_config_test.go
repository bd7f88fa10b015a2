package train_test

import (
	"math"
	"strings"
	"testing"

	"attention/train"

	"github.com/stretchr/testify/require"
)

func TestSolverConfigValidate(t *testing.T) {
	for _, row := range []struct {
		config train.SolverConfig
		want   string
	}{
		{config: train.SolverConfig{Name: "rmsprop"}, want: `Name: got "rmsprop", want one of sgd, adam, adamw, muon`},
		{config: train.SolverConfig{WeightDecay: -0.01},
			want: "WeightDecay: got -0.01, want a finite number of at least 0"},
		{config: train.SolverConfig{WeightDecay: math.NaN()},
			want: "WeightDecay: got NaN, want a finite number of at least 0"},
		{config: train.SolverConfig{Name: train.SGD, Momentum: 1},
			want: "Momentum: got 1, want a number from 0 to below 1"},
		{config: train.SolverConfig{Name: train.SGD, Momentum: math.NaN()},
			want: "Momentum: got NaN, want a number from 0 to below 1"},
		{config: train.SolverConfig{Beta1: 1}, want: "Beta1: got 1, want a number from 0 to below 1"},
		{config: train.SolverConfig{Beta2: -0.5}, want: "Beta2: got -0.5, want a number from 0 to below 1"},
		{config: train.SolverConfig{Eps: math.Inf(1)}, want: "Eps: got +Inf, want a finite number of at least 0"},
		{config: train.SolverConfig{Momentum: 0.9}, want: "Momentum: got 0.9 with Name=adamw, want 0: only sgd and muon have it"},
		{config: train.SolverConfig{Name: train.SGD, Beta1: 0.9},
			want: "Beta1: got 0.9 with Name=sgd, want 0: only adam, adamw and muon have it"},
		{config: train.SolverConfig{Name: train.SGD, Eps: 0.1},
			want: "Eps: got 0.1 with Name=sgd, want 0: only adam, adamw and muon have it"},
		{config: train.SolverConfig{AdjustLR: train.MatchRMSAdamW},
			want: `AdjustLR: got "match_rms_adamw" with Name=adamw, want none: only muon has it`},
		{config: train.SolverConfig{Name: train.Muon, AdjustLR: "original"},
			want: `AdjustLR: got "original", want one of match_rms_adamw`},
		{config: train.SolverConfig{Name: train.Muon, NSSteps: -1}, want: "NSSteps: got -1, want at least 1"},
		{config: train.SolverConfig{Name: train.Muon, NSSteps: 100}, want: "NSSteps: got 100, want at most 99"},
		{config: train.SolverConfig{NSSteps: 5}, want: "NSSteps: got 5 with Name=adamw, want 0: only muon has it"},
		{config: train.SolverConfig{Nesterov: new(true)},
			want: "Nesterov: got true with Name=adamw, want none: only muon has it"},
		{config: train.SolverConfig{Groups: []train.ParamGroup{{Params: "a", Solver: train.AdamW}}},
			want: "Groups[0].Solver: got adamw with Name=adamw, want none: only muon leaves parameters to another"},
		{config: train.SolverConfig{Decay: 7}, want: "Decay: got Decay(7), want one of all, matrices"},
	} {
		require.EqualError(t, row.config.Validate(), row.want)
		_, err := row.config.New(nil)
		require.EqualError(t, err, "train: "+row.want)
	}
	for name, c := range solverCases {
		require.NoError(t, c.Validate(), name)
		require.False(t, strings.Contains(c.String(), "\n"))
	}
}
