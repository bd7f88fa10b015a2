package train_test

import (
	"math"
	"strings"
	"testing"

	"attention/internal/refusal"
	"attention/internal/small"
	"attention/train"

	"github.com/stretchr/testify/require"
)

func TestSolverConfigValidate(t *testing.T) {
	rows := refusal.Rows{
		{`{"name": "rmsprop"}`, `Name: got "rmsprop", want one of sgd, adam, adamw, muon`},
		{`{"weight_decay": -0.01}`, "WeightDecay: got -0.01, want a finite number of at least 0"},
		{func(c *train.SolverConfig) { c.WeightDecay = math.NaN() },
			"WeightDecay: got NaN, want a finite number of at least 0"},
		{`{"name": "sgd", "momentum": 1}`, "Momentum: got 1, want a number from 0 to below 1"},
		{func(c *train.SolverConfig) { c.Name, c.Momentum = train.SGD, math.NaN() },
			"Momentum: got NaN, want a number from 0 to below 1"},
		{`{"beta1": 1}`, "Beta1: got 1, want a number from 0 to below 1"},
		{`{"beta2": -0.5}`, "Beta2: got -0.5, want a number from 0 to below 1"},
		{func(c *train.SolverConfig) { c.Eps = math.Inf(1) }, "Eps: got +Inf, want a finite number of at least 0"},
		{`{"momentum": 0.9}`, "Momentum: got 0.9 with Name=adamw, want one of the two: only sgd and muon have it"},
		{`{"name": "sgd", "beta1": 0.9}`, "Beta1: got 0.9 with Name=sgd, want one of the two: only adam, adamw and muon have it"},
		{`{"name": "sgd", "eps": 0.1}`, "Eps: got 0.1 with Name=sgd, want one of the two: only adam, adamw and muon have it"},
		{`{"adjust_lr": "match_rms_adamw"}`,
			`AdjustLR: got "match_rms_adamw" without Name=muon, want both`},
		{`{"name": "muon", "adjust_lr": "original"}`, `AdjustLR: got "original", want one of match_rms_adamw`},
		{`{"name": "muon", "ns_steps": -1}`, "NSSteps: got -1, want at least 1"},
		{`{"name": "muon", "ns_steps": 100}`, "NSSteps: got 100, want at most 99"},
		{`{"ns_steps": 5}`, "NSSteps: got 5 without Name=muon, want both"},
		{`{"nesterov": true}`, "Nesterov: got it without Name=muon, want both"},
		{`{"groups": [{"params": "a", "solver": "adamw"}]}`,
			"Groups[0].Solver: got adamw with Name=adamw, want none: only muon leaves parameters to another"},
		{func(c *train.SolverConfig) { c.Decay = 7 }, "Decay: got Decay(7), want one of all, matrices"},
	}
	refusal.Check(t, train.SolverConfig{}, "", rows, train.SolverConfig.Validate)
	params := []train.Param{{Name: "w", Value: small.Vector(1)}}
	refusal.Check(t, train.SolverConfig{}, "train: ", rows, func(c train.SolverConfig) error {
		_, err := c.New(params)
		return err
	})
	for name, c := range solverCases {
		require.NoError(t, c.Validate(), name)
		require.False(t, strings.Contains(c.String(), "\n"))
	}
}
