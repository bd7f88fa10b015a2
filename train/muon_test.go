package train_test

import (
	"testing"

	"attention/train"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// muonCases are the cases of testdata/torch/muon.py.
var muonCases = map[string]train.SolverConfig{
	"muon":       {Name: train.Muon},
	"muon_decay": {Name: train.Muon, WeightDecay: 0.1},
	"muon_match": {Name: train.Muon, WeightDecay: 0.1, AdjustLR: train.MatchRMSAdamW,
		Groups: []train.ParamGroup{{Params: "table", Solver: train.AdamW}}},
	"muon_plain": {Name: train.Muon, Nesterov: new(false), NSSteps: 3},
}

// A step of the iteration multiplies an error by up to 3.4, and there are five steps, with ten roundings each.
var muonTolerance = map[tensor.Dtype]float64{tensor.Float64: 1e-12, tensor.Float32: 5e-5}

func TestMuonAsPyTorch(t *testing.T) {
	entries := map[string]int{"muon": 3 + 2, "muon_decay": 3 + 2, "muon_match": 2 + 4, "muon_plain": 3 + 2}
	for name, c := range muonCases {
		for dtype, tol := range muonTolerance {
			t.Run(name+"."+dtype.String(), func(t *testing.T) {
				p, file := loadProblemOf(t, dtype, "torch/muon.safetensors", "wide", "tall", "table", "bias")
				require.Equal(t, entries[name], p.checkSteps(t, file, name+"."+dtype.String(), c, tol))
			})
		}
	}
}
