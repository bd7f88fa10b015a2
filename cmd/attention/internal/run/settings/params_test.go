package settings

import (
	"testing"

	"attention/train"

	"github.com/stretchr/testify/require"
)

func TestParseGroup(t *testing.T) {
	const wrong = ", want PATTERN:lr_factor=NUMBER, PATTERN:weight_decay=NUMBER, PATTERN:solver=adamw or several, " +
		"with commas"
	for _, row := range []struct {
		line, err string
		want      train.ParamGroup
	}{
		{line: "h.0:lr_factor=0.1", want: train.ParamGroup{Params: "h.0", LRFactor: new(0.1)}},
		{line: "h.0:lr_factor=2, weight_decay=0",
			want: train.ParamGroup{Params: "h.0", LRFactor: new(2.0), WeightDecay: new(0.0)}},
		{line: "wte:solver=adamw,lr_factor=3",
			want: train.ParamGroup{Params: "wte", LRFactor: new(3.0), Solver: train.AdamW}},
		{line: "a:b:lr_factor=1", want: train.ParamGroup{Params: "a:b", LRFactor: new(1.0)}},
		{line: "h.0", err: `got "h.0"` + wrong},
		{line: "h.0:", err: `got "h.0:"` + wrong},
		{line: "h.0:lr_factor=x", err: `got "h.0:lr_factor=x"` + wrong},
		{line: "h.0:lr_factor=Inf", err: `got "h.0:lr_factor=Inf"` + wrong},
		{line: "h.0:lr_factor=1,lr_factor=1", err: `got "h.0:lr_factor=1,lr_factor=1"` + wrong},
		{line: "h.0:lr=1", err: `unknown field "lr"; it has params, lr_factor, weight_decay, solver`},
	} {
		g, err := parseGroup(row.line)
		if row.err != "" {
			require.EqualError(t, err, row.err)
			continue
		}
		require.NoError(t, err, row.line)
		require.Equal(t, row.want, g, row.line)
	}
}
