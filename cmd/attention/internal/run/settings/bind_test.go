package settings

import (
	"testing"

	"attention/train"

	"github.com/stretchr/testify/require"
)

// A flag has the type and the default of its value.
func TestAddFlags(t *testing.T) {
	f := parsed(t)
	for _, row := range []struct{ name, kind, usual string }{
		{name: "text", kind: "string", usual: ""},
		{name: "out", kind: "string", usual: ""},
		{name: "model", kind: "string", usual: "layer"},
		{name: "width", kind: "int64", usual: "64"},
		{name: "context", kind: "int64", usual: "0"},
		{name: "layers", kind: "int64", usual: "4"},
		{name: "bias", kind: "bool", usual: "true"},
		{name: "qkv-bias", kind: "bool", usual: "false"},
		{name: "norm-eps", kind: "float64", usual: "1e-05"},
		{name: "dropout", kind: "float64", usual: "0"},
		{name: "lr", kind: "float64", usual: "0"},
		{name: "clip", kind: "float64", usual: "1"},
		{name: "decay", kind: "string", usual: "matrices"},
		{name: "seed", kind: "int64", usual: "1"},
		{name: "prompt", kind: "string", usual: ""},
	} {
		flag := f.Lookup(row.name)
		require.Equal(t, []string{row.kind, row.usual}, []string{flag.Value.Type(), flag.DefValue}, row.name)
	}
}

func TestFlagsOfAnotherType(t *testing.T) {
	constant := configFile(t, `{"training": {"schedule": {"type": "constant", "rate": 0.1}}}`)
	for _, row := range []struct {
		args []string
		want string
	}{
		{args: []string{"--layers", "2"}, want: "--layers: got it with --model layer, want it with --model gpt only"},
		{args: []string{"--initializer", "torch"},
			want: "--initializer: got it with --model layer, want it with --model gpt only"},
		{args: []string{"--preset", "tiny", "--layer", "causal"},
			want: "--layer: got it with --model gpt, want it with --model layer only"},
		{args: []string{"--config", constant, "--warmup", "2"},
			want: "--warmup: got it with --schedule constant, want it with --schedule cosine and wsd only"},
	} {
		_, err := New(parsed(t, row.args...), nil)
		require.EqualError(t, err, row.want)
	}
}

func TestCheckFlags(t *testing.T) {
	for _, row := range []struct{ args, want string }{
		{args: "--lr=NaN", want: "--lr: got NaN, want a finite number"},
		{args: "--lr=-Inf", want: "--lr: got -Inf, want a finite number"},
		{args: "--order=", want: "--order: got nothing, want the order"},
		{args: "--preset=", want: "--preset: got nothing, want the name"},
		{args: "--text=a\xff", want: `--text: got "a\xff", want UTF-8`},
	} {
		require.EqualError(t, CheckFlags(parsed(t, row.args), Train), row.want)
	}
	require.NoError(t, CheckFlags(parsed(t, "--lr", ".5", "--steps", "0x10", "--dropout=5e-1"), Train))
	require.Equal(t, "./"+BuiltinName, settled(t, "--text", BuiltinName).Text.Name)
}

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
