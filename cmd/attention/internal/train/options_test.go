package train

import (
	"math"
	"slices"
	"testing"

	"attention/cmd/attention/internal/flags"
	"attention/cmd/attention/internal/run"
	"attention/train"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

func dtypeOf(t *testing.T, name string) tensor.Dtype {
	dt, err := flags.Dtype(name)
	require.NoError(t, err)
	return dt
}

// tinyOptions pass for flags.
func tinyOptions(layer, solver string) options {
	return options{model: run.LayerModel, layer: layer, tokenizer: text.Characters, activation: "gelu", solver: solver, dtype: "float32",
		order: run.RandomOrder, width: 4, heads: 2, layers: 1, steps: 2000, accumulate: 1, keep: 1, beta1: 0.9, beta2: 0.999, eps: 1e-8, normEps: 1e-5}
}

// TestTrainDefaults: some depend on layer, solver and steps, unless they are given.
func TestTrainDefaults(t *testing.T) {
	for _, c := range []struct {
		layer, solver  string
		context, batch int
		rate           float64
	}{
		{"multi_head", train.AdamW, causalContext, causalBatch, adamRate},
		{"causal", train.Adam, causalContext, causalBatch, adamRate},
		{"multi_head_wrapper", train.SGD, causalContext, causalBatch, sgdRate},
		{"simple", train.AdamW, wholeContext, wholeBatch, adamRate},
		{"additive", train.SGD, wholeContext, wholeBatch, sgdRate},
	} {
		o := tinyOptions(c.layer, c.solver)
		given := o
		require.NoError(t, o.settle(func(string) bool { return false }))
		require.Equal(t, []any{c.context, c.batch, c.rate}, []any{o.context, o.batch, o.rate})
		require.Equal(t, []any{100, 2000, c.rate / 10}, []any{o.warmup, o.decaySteps, o.floor})
		given.context, given.batch, given.rate, given.text, given.out, given.prompt = 5, 6, 7, "a", "b", "c"
		given.warmup, given.decaySteps, given.floor, given.init, given.resume = 8, 9, 3, "d", "e"
		want := given
		names := []string{"context", "batch", "lr", "warmup", "decay-steps", "min-lr", "text", "out", "prompt", "init", "resume"}
		require.NoError(t, given.settle(func(flag string) bool { return slices.Contains(names, flag) }))
		require.Equal(t, want, given)
	}
}

// TestTrainScheduleIsNanoGPTs: --lr 1e-3 over 2000 steps warms up over 100 of them and
// goes down to 1e-4, by the formula of nanoGPT's get_lr.
func TestTrainScheduleIsNanoGPTs(t *testing.T) {
	o := tinyOptions("multi_head", train.AdamW)
	o.rate = 1e-3
	require.NoError(t, o.settle(func(flag string) bool { return flag == "lr" }))
	s := o.loopConfig().Schedule
	const most, least, warmup, decay = 1e-3, 1e-4, 100, 2000
	for it := range 2100 {
		want := least
		switch {
		case it < warmup:
			want = most * float64(it+1) / (warmup + 1)
		case it <= decay:
			want = least + 0.5*(1+math.Cos(math.Pi*float64(it-warmup)/(decay-warmup)))*(most-least)
		}
		require.InEpsilon(t, want, s.At(it), 1e-14, "step %d", it)
	}
	require.Equal(t, 1e-3, s.At(100))
	require.Equal(t, 1e-4, s.At(2000))
}
