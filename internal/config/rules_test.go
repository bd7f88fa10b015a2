package config_test

import (
	"testing"

	"attention/internal/config"

	"github.com/stretchr/testify/require"
)

func TestCheckRefusesSettingsThatExcludeEachOther(t *testing.T) {
	type inner struct {
		Width int `json:"width"`
	}
	type outer struct {
		Kind  string `json:"kind"`
		Bias  bool   `json:"bias"`
		Inner *inner `json:"inner"`
		Other *inner `json:"other"`
	}
	rules := []config.Rule{
		{Settings: "Bias", Exclude: "Kind=bare"},
		{Settings: "Kind=bare", Need: "Inner"},
		{Settings: "Kind=wide Inner.Width", Exclude: "Other", Why: "it has a width of its own"},
		{Settings: "Other", Need: "Kind"},
	}
	for want, c := range map[string]outer{
		"bias: got true with kind=bare, want one of the two": {Kind: "bare", Bias: true, Inner: &inner{}},
		`kind: got "bare" without inner, want both`:          {Kind: "bare"},
		"inner.width: got 3 with other, want one of the two: it has a width of its own": {Kind: "x", Inner: &inner{3},
			Other: &inner{}},
		"other: got it without kind, want both": {Other: &inner{}},
	} {
		require.EqualError(t, config.JSON(config.Check(c, rules)), want)
	}
	for _, c := range []outer{{}, {Kind: "x", Bias: true}, {Kind: "bare", Inner: &inner{3}},
		{Kind: "x", Inner: &inner{}, Other: &inner{4}}} {
		require.NoError(t, config.Check(c, rules))
	}
}
