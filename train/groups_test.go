package train_test

import (
	"encoding/json"
	"math"
	"testing"

	fieldconfig "attention/internal/config"
	"attention/train"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// The settings of a group affect its own parameters only; for parameters without a group no bit changes.
func TestGroups(t *testing.T) {
	p, _ := loadProblem(t, tensor.Float64)
	stepped := func(c train.SolverConfig) []train.Param {
		params := p.start()
		p.step(t, must(c.New(params)), params, 0)
		return params
	}
	for _, c := range []struct {
		reason string
		base   train.SolverConfig
		group  train.ParamGroup
		whole  train.SolverConfig // gives all parameters the settings that the group gives its own
	}{
		{reason: "no decay", base: train.SolverConfig{Name: train.SGD, WeightDecay: 0.5},
			group: train.ParamGroup{WeightDecay: new(0.0)}, whole: train.SolverConfig{Name: train.SGD}},
		{reason: "a decay that Decay leaves out", base: train.SolverConfig{Decay: train.DecayMatrices},
			group: train.ParamGroup{WeightDecay: new(0.5)}, whole: train.SolverConfig{WeightDecay: 0.5}},
		{reason: "the solver's decay stays", base: train.SolverConfig{WeightDecay: 0.5},
			group: train.ParamGroup{LRFactor: new(1.0)}, whole: train.SolverConfig{WeightDecay: 0.5}},
	} {
		base, whole := stepped(c.base), stepped(c.whole)
		for _, pattern := range []string{"bias", "[mb]*"} {
			grouped := c.base
			c.group.Params = pattern
			grouped.Groups = []train.ParamGroup{c.group}
			for i, got := range stepped(grouped) {
				want := base
				if got.Name == "bias" || got.Name == "matrix" && pattern != "bias" {
					want = whole
				}
				require.Equal(t, bits(t, want[i:i+1]), bits(t, []train.Param{got}), "%s: %s: %s", c.reason, pattern, got.Name)
			}
		}
	}
	params, start := p.start(), p.start()
	s := must(train.SolverConfig{Groups: []train.ParamGroup{{Params: "gain", LRFactor: new(0.0)}}}.New(params))
	p.step(t, s, params, 0)
	for i, param := range params {
		require.Equal(t, param.Name == "gain", bits(t, start[i:i+1])[0] == bits(t, params[i:i+1])[0], param.Name)
	}
	s = must(train.SolverConfig{Groups: []train.ParamGroup{{Params: "gain", LRFactor: new(math.MaxFloat64)}}}.New(params))
	was := bits(t, params)
	require.EqualError(t, s.Step(10, params), "train: learning rate of gain: got +Inf, want a finite number >= 0")
	require.Equal(t, was, bits(t, params))
}

func TestGroupsJSON(t *testing.T) {
	c := train.SolverConfig{Groups: []train.ParamGroup{{Params: "h.0", LRFactor: new(0.1), WeightDecay: new(0.0)},
		{Params: "wte", LRFactor: new(0.0)}}}
	text := must(json.Marshal(c))
	require.Equal(t, `{"name":"","decay":"all","groups":[{"params":"h.0","lr_factor":0.1,"weight_decay":0},`+
		`{"params":"wte","lr_factor":0}]}`, string(text))
	var back train.SolverConfig
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, c, back)
	require.Equal(t, "adamw(beta1=0.9 beta2=0.999 eps=1e-08 weight_decay=0 of all; h.0: lr_factor=0.1 weight_decay=0; "+
		"wte: lr_factor=0)", c.String())
}

func TestGroupsRefuse(t *testing.T) {
	p, _ := loadProblem(t, tensor.Float64)
	factor := new(0.5)
	for _, c := range []struct {
		want   string
		groups []train.ParamGroup
	}{
		{"groups[0].params: got none, want a pattern of parameters' names", []train.ParamGroup{{LRFactor: factor}}},
		{"groups[1].lr_factor: got none, want it, weight_decay or solver",
			[]train.ParamGroup{{Params: "a", LRFactor: factor}, {Params: "b"}}},
		{"groups[0].lr_factor: got -1, want a finite number of at least 0",
			[]train.ParamGroup{{Params: "a", LRFactor: new(-1.0)}}},
		{"groups[0].weight_decay: got NaN, want a finite number of at least 0",
			[]train.ParamGroup{{Params: "a", WeightDecay: new(math.NaN())}}},
		{`groups[0].params: got "matrices", want a pattern of the 4 parameters' names, such as matrix`,
			[]train.ParamGroup{{Params: "matrices", LRFactor: factor}}},
		{`groups[1].params: got "bia?", which has bias like the "*i*" of another group, want it in one of them`,
			[]train.ParamGroup{{Params: "*i*", LRFactor: factor}, {Params: "bia?", LRFactor: factor}}},
	} {
		_, err := train.SolverConfig{Groups: c.groups}.New(p.start())
		require.EqualError(t, fieldconfig.JSON(err), c.want)
	}
	c := train.SolverConfig{Groups: []train.ParamGroup{{Params: "bias", LRFactor: factor}}}
	require.NoError(t, c.ValidateParams(p.names))
	require.Error(t, c.ValidateParams(p.names[:1]))
}
