package bench

import (
	"context"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/term"
	"attention/internal/simd"

	"github.com/stretchr/testify/require"
)

// small is a work that takes hardly any time.
func small(tokens int, mode string) work {
	return work{Batch: 2, Tokens: tokens, EmbedDim: 6, NumHeads: 3, Causal: true, Mode: mode, Dtype: "float32"}
}

func TestBenchStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, args := range [][]string{{}, {"--tokens", "3"}} {
		out, err := commandtest.Output(ctx, New(), args...)
		require.EqualError(t, err, "interrupted")
		require.True(t, term.IsInterrupted(err))
		require.Empty(t, out)
	}
}

func TestBenchWrongFlags(t *testing.T) {
	for _, c := range []struct{ flags, want string }{
		{flags: "--batch 0", want: "--batch: got 0, want a whole number from 1 to 16777216"},
		{flags: "--tokens -1", want: "--tokens: got -1, want a whole number from 1 to 16777216"},
		{flags: "--width 16777217", want: "--width: got 16777217, want a whole number from 1 to 16777216"},
		{flags: "--heads 5", want: "--heads: got 5, want a divisor of --width 768"},
		{flags: "--mode backward", want: `--mode: got "backward", want forward, forward-backward or gpt-step`},
		{flags: "--mode gpt-step --layers 0", want: "--layers: got 0, want a whole number from 1 to 1024"},
		{flags: "--mode gpt-step --vocab 0", want: "--vocab: got 0, want a whole number from 1 to 1048576"},
		{flags: "--mode gpt-step --vocab 2097152", want: "--vocab: got 2097152, want a whole number from 1 to 1048576"},
		{flags: "--mode forward --layers 3",
			want: "--layers: got it with --mode forward, want it with --mode gpt-step only"},
		{flags: "--layers 4", want: "--layers: got it with --mode forward-backward, want it with --mode gpt-step only"},
		{flags: "--mode forward-backward --vocab 65",
			want: "--vocab: got it with --mode forward-backward, want it with --mode gpt-step only"},
		{flags: "--mode backward --layers 3",
			want: `--mode: got "backward", want forward, forward-backward or gpt-step`},
		{flags: "--mode gpt-step --no-causal", want: "--no-causal: got it with --mode gpt-step, want a causal model"},
		{flags: "--dtype float16", want: `--dtype: got "float16", want float32 or float64`},
		{flags: "--precision fp8", want: `--precision: got "fp8", want full or bf16`},
		{flags: "--precision bf16 --dtype float64", want: "--precision: got bf16 of float64, want it of float32"},
		{flags: "--kv-heads 5", want: "--kv-heads: got 5, want a divisor of --heads 12"},
		{flags: "--kv-heads -1", want: "--kv-heads: got -1, want a divisor of --heads 12"},
		{flags: "--runs -1", want: "--runs: got -1, want a whole number from 1 to 1048576, or 0 for the default"},
		{flags: "--threads 1025", want: "--threads: got 1025, want a whole number from 1 to 1024, or 0 for the default"},
		{flags: "--width 65536", want: "--heads: got 12, want a divisor of --width 65536"},
		{flags: "--tokens 16777216",
			want: "--batch 2 --tokens 16777216 --width 768: want an input of at most 1073741824 elements"},
		{flags: "--batch 16777216",
			want: "--batch 16777216 --tokens 1024 --width 768: want an input of at most 1073741824 elements"},
		{flags: "--width 49152", want: "--width: got 49152, want weights of at most 1073741824 elements each"},
		{flags: "--runs 1 --dtype int", want: `--dtype: got "int", want float32 or float64`},
	} {
		out, err := commandtest.Output(t.Context(), New(), strings.Fields(c.flags)...)
		require.EqualError(t, err, c.want, c.flags)
		require.Empty(t, out)
	}
	_, err := commandtest.Output(t.Context(), New(), "7")
	require.Error(t, err)
}

// If the processor or the environment does not allow bfloat16, the error is one line and comes before the work begins.
func TestBenchRefusesPrecision(t *testing.T) {
	environments := []string{"fast"}
	if t.Setenv(simd.BF16Variable, ""); simd.CheckBF16() != nil {
		environments = append(environments, "")
	}
	for _, environment := range environments {
		t.Setenv(simd.BF16Variable, environment)
		for _, args := range [][]string{{}, {"--tokens", "3"}} {
			out, err := commandtest.Output(t.Context(), New(), append(args, "--precision", "bf16")...)
			require.EqualError(t, err, "--precision: "+simd.CheckBF16().Error())
			require.Empty(t, out)
		}
	}
}
