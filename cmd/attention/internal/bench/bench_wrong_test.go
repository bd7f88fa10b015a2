package bench

import (
	"context"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"

	"github.com/stretchr/testify/require"
)

func TestBenchStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, args := range [][]string{{}, {"--tokens", "3"}} {
		out, err := commandtest.Output(ctx, New(), args...)
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, out)
	}
}

func TestBenchWrongFlags(t *testing.T) {
	for flags, want := range map[string]string{
		"--batch 0":                   "--batch: got 0, want a whole number from 1 to 16777216",
		"--tokens -1":                 "--tokens: got -1, want a whole number from 1 to 16777216",
		"--width 16777217":            "--width: got 16777217, want a whole number from 1 to 16777216",
		"--heads 5":                   "--heads: got 5, want a divisor of --width 768",
		"--mode backward":             `--mode: got "backward", want forward, forward-backward or gpt-step`,
		"--mode gpt-step --layers 0":  "--layers: got 0, want a whole number from 1 to 1024",
		"--mode gpt-step --no-causal": "--no-causal: got it with --mode gpt-step, want a causal model",
		"--dtype float16":             `--dtype: got "float16", want float32 or float64`,
		"--kv-heads 5":                "--kv-heads: got 5, want a divisor of --heads 12",
		"--kv-heads -1":               "--kv-heads: got -1, want a divisor of --heads 12",
		"--runs -1":                   "--runs: got -1, want a whole number from 1 to 1048576, or 0 for the default",
		"--threads 1025":              "--threads: got 1025, want a whole number from 1 to 1024, or 0 for the default",
		"--width 65536":               "--heads: got 12, want a divisor of --width 65536",
		"--tokens 16777216":           "--batch 2 --tokens 16777216 --width 768: want an input of at most 1073741824 elements",
		"--batch 16777216":            "--batch 16777216 --tokens 1024 --width 768: want an input of at most 1073741824 elements",
		"--width 49152":               "--width: got 49152, want weights of at most 1073741824 elements each",
		"--runs 1 --dtype int":        `--dtype: got "int", want float32 or float64`,
	} {
		out, err := commandtest.Output(t.Context(), New(), strings.Fields(flags)...)
		require.EqualError(t, err, "bench: "+want, flags)
		require.Empty(t, out)
	}
	_, err := commandtest.Output(t.Context(), New(), "7")
	require.Error(t, err)
}
