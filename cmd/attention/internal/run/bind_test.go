package run

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A flag has the type and the default of its value.
func TestAddFlags(t *testing.T) {
	f := parsed(t)
	for _, row := range []struct{ name, kind, usual string }{
		{"text", "string", ""}, {"out", "string", ""}, {"model", "string", "layer"}, {"width", "int64", "64"}, {"context", "int64", "0"},
		{"layers", "int64", "4"}, {"bias", "bool", "true"}, {"qkv-bias", "bool", "false"}, {"norm-eps", "float64", "1e-05"},
		{"dropout", "float64", "0"}, {"lr", "float64", "0"}, {"clip", "float64", "1"}, {"decay", "string", "matrices"}, {"seed", "int64", "1"}, {"prompt", "string", ""},
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
		{[]string{"--layers", "2"}, "--layers: got it with --model layer, want it with --model gpt only"},
		{[]string{"--model", "gpt", "--qkv-bias"}, "--qkv-bias: got it with --model gpt, want it with --model layer only"},
		{[]string{"--preset", "tiny", "--layer", "causal"}, "--layer: got it with --model gpt, want it with --model layer only"},
		{[]string{"--config", constant, "--warmup", "2"}, "--warmup: got it with a schedule of type constant, want it with a schedule of type cosine only"},
	} {
		_, err := NewSettings(parsed(t, row.args...))
		require.EqualError(t, err, row.want)
	}
}

func TestCheckFlags(t *testing.T) {
	for _, row := range []struct{ args, want string }{
		{"--lr=NaN", "--lr: got NaN, want a finite number"},
		{"--lr=-Inf", "--lr: got -Inf, want a finite number"},
		{"--order=", "--order: got nothing, want the order"},
		{"--preset=", "--preset: got nothing, want the name"},
		{"--text=a\xff", `--text: got "a\xff", want UTF-8`},
	} {
		require.EqualError(t, CheckFlags(parsed(t, row.args)), row.want)
	}
	require.NoError(t, CheckFlags(parsed(t, "--lr", ".5", "--steps", "0x10", "--dropout=5e-1")))
	require.Equal(t, "./"+BuiltinName, settled(t, "--text", BuiltinName).Text.Name)
}
