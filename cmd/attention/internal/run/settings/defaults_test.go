package settings

import (
	"math"
	"strings"
	"testing"

	"attention/layers/chapter"
	"attention/train"

	"github.com/stretchr/testify/require"
)

// Some defaults depend on layer, solver and steps, unless they are given.
func TestDefaults(t *testing.T) {
	for _, row := range []struct {
		layer, solver  string
		context, batch int
		rate           float64
	}{
		{layer: "multi_head", solver: train.AdamW, context: 64, batch: 16, rate: 0.005},
		{layer: "causal", solver: train.Adam, context: 64, batch: 16, rate: 0.005},
		{layer: "multi_head_wrapper", solver: train.SGD, context: 64, batch: 16, rate: 1},
		{layer: "simple", solver: train.AdamW, context: 8, batch: 128, rate: 0.005},
		{layer: "additive", solver: train.SGD, context: 8, batch: 128, rate: 1},
	} {
		c := settled(t, "--layer", row.layer, "--solver", row.solver)
		require.Equal(t, []int{row.context, row.batch}, []int{c.Model.Layer.ContextLength, c.Batch})
		require.Equal(t, train.CosineLR{Peak: row.rate, Floor: row.rate / 10, WarmupSteps: 100, Steps: 2000},
			c.Training.Schedule.Schedule)
		c = settled(t, "--layer", row.layer, "--solver", row.solver, "--context", "5", "--batch", "6", "--lr", "7",
			"--warmup", "8",
			"--decay-steps", "9", "--min-lr", "3", "--text", "a", "--prompt", "c", "--init", "d")
		require.Equal(t, []int{5, 6}, []int{c.Model.Layer.ContextLength, c.Batch})
		require.Equal(t, train.CosineLR{Peak: 7, Floor: 3, WarmupSteps: 8, Steps: 9}, c.Training.Schedule.Schedule)
		require.Equal(t, []string{"a", "c", "d"}, []string{c.Text.Name, c.Sample.Prompt, c.Init.Name})
	}
	c := settled(t, "--model", "gpt", "--lr", "0")
	require.Equal(t, train.CosineLR{WarmupSteps: 100, Steps: 2000}, c.Training.Schedule.Schedule, "a rate of 0 is given")
	require.Equal(t, 0.001, settled(t, "--model", "gpt").Training.Schedule.Schedule.(train.CosineLR).Peak)
}

// The phases of --schedule wsd follow from the steps, and a preset's rate goes with its schedule.
func TestDefaultsOfSchedules(t *testing.T) {
	for _, row := range []struct {
		args string
		want train.Schedule
	}{
		{args: "--schedule wsd",
			want: train.WSD{Peak: 0.005, WarmupSteps: 100, StableSteps: 900, DecaySteps: 1000}},
		{args: "--schedule wsd --steps 41 --lr 3 --min-lr 2",
			want: train.WSD{Peak: 3, Floor: 2, WarmupSteps: 2, StableSteps: 18, DecaySteps: 21}},
		{args: "--schedule wsd --steps 9 --warmup 4 --decay-steps 8", want: train.WSD{Peak: 0.005, WarmupSteps: 4, DecaySteps: 8}},
		{args: "--schedule wsd --steps 1", want: train.WSD{Peak: 0.005, DecaySteps: 1}},
		{args: "--preset nano-char --schedule wsd",
			want: train.WSD{Peak: 0.001, WarmupSteps: 100, StableSteps: 900, DecaySteps: 1000}},
		{args: "--schedule constant --lr 2", want: train.ConstantRate(2).Schedule},
	} {
		require.Equal(t, row.want, settled(t, strings.Fields(row.args)...).Training.Schedule.Schedule, row.args)
	}
}

// A layer has the sizes that follow from the width, the heads and the context, and no others.
func TestDefaultsOfLayers(t *testing.T) {
	for _, want := range []chapter.Config{
		{Layer: "simple", EmbedDim: 12},
		{Layer: "self_v1", EmbedDim: 12, OutDim: 12},
		{Layer: "self_v2", EmbedDim: 12, OutDim: 12, QKVBias: true},
		{Layer: "causal", EmbedDim: 12, OutDim: 12, ContextLength: 5, QKVBias: true},
		{Layer: "multi_head_wrapper", EmbedDim: 12, OutDim: 4, ContextLength: 5, NumHeads: 3, QKVBias: true},
		{Layer: "multi_head", EmbedDim: 12, OutDim: 12, ContextLength: 5, NumHeads: 3, QKVBias: true},
		{Layer: "additive", QueryDim: 12, KeyDim: 12, AttnDim: 12},
	} {
		c := settled(t, "--layer", want.Layer, "--width", "12", "--heads", "3", "--context", "5", "--qkv-bias")
		require.Equal(t, chapter.LanguageModelConfig{EmbedDim: 12, ContextLength: 5, Attention: want}, *c.Model.Layer)
	}
}

// --lr 1e-3 over 2000 steps warms up over 100 of them and decays to 1e-4, by the formula of nanoGPT's get_lr.
func TestTrainScheduleIsNanoGPTs(t *testing.T) {
	s := settled(t, "--lr", "1e-3").Training.Schedule
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
