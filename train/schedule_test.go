package train_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"attention/internal/golden"
	"attention/train"
)

func TestCosineAsNanoGPT(t *testing.T) {
	want := golden.Load(t, "torch/solvers.safetensors").Float64("cosine")
	c := train.CosineLR{Peak: 3e-3, Floor: 3e-4, WarmupSteps: 5, Steps: 20}
	require.NoError(t, c.Validate())
	got := make([]float64, len(want))
	for i := range got {
		got[i] = c.At(i)
	}
	golden.Close(t, "learning rate", want, got, 0, 1e-14) // two libraries' cosines
	require.Equal(t, 3e-3/6, c.At(0))
	require.Equal(t, 3e-3/6, c.At(-1))
	require.Equal(t, 3e-3, c.At(5))
	require.Equal(t, 3e-4, c.At(20))
	require.Equal(t, 3e-4, c.At(math.MaxInt))

	cold := train.CosineLR{Peak: 1, Steps: 2}
	require.Equal(t, []float64{1, 0.5, 0}, []float64{cold.At(0), math.Round(cold.At(1)*1e15) / 1e15, cold.At(2)})
}

func TestWSDAsPyTorch(t *testing.T) {
	want := golden.Load(t, "torch/solvers.safetensors").Float64("wsd")
	c := train.WSD{Peak: 3e-3, Floor: 3e-4, WarmupSteps: 5, StableSteps: 8, DecaySteps: 7}
	require.NoError(t, c.Validate())
	got := make([]float64, len(want))
	for i := range got {
		got[i] = c.At(i)
	}
	golden.Close(t, "learning rate", want, got, 0, 1e-14) // PyTorch multiplies the rate of the previous step
	require.Equal(t, 3e-3/6, c.At(-1))
	require.Equal(t, []float64{3e-3, 3e-3}, []float64{c.At(5), c.At(13)})
	require.Equal(t, []float64{3e-4, 3e-4}, []float64{c.At(20), c.At(math.MaxInt)})

	short := train.WSD{Peak: 1, DecaySteps: 2}
	require.Equal(t, []float64{1, 0.5, 0}, []float64{short.At(0), short.At(1), short.At(2)})
}

func TestScheduleValidate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, row := range []struct {
		schedule train.Schedule
		want     string
	}{
		{train.ConstantRate(nan), "Rate: got NaN, want a finite number of at least 0"},
		{train.ConstantRate(-1), "Rate: got -1, want a finite number of at least 0"},
		{train.ConstantRate(inf), "Rate: got +Inf, want a finite number of at least 0"},
		{train.CosineLR{Peak: nan, Steps: 1}, "Peak: got NaN, want a finite number of at least 0"},
		{train.CosineLR{Peak: 1, Floor: -1, Steps: 1}, "Floor: got -1, want a finite number of at least 0"},
		{train.CosineLR{Peak: 1, Floor: 2, Steps: 1}, "Floor: got 2, want at most Peak=1"},
		{train.CosineLR{Peak: 1, WarmupSteps: -1, Steps: 1}, "WarmupSteps: got -1, want at least 0"},
		{train.CosineLR{Peak: 1, WarmupSteps: 3, Steps: 3}, "WarmupSteps: got 3, want less than Steps=3"},
		{train.CosineLR{Peak: 1}, "Steps: got 0, want at least 1"},
		{train.CosineLR{Peak: 1, Floor: inf, Steps: 1}, "Floor: got +Inf, want a finite number of at least 0"},
		{train.CosineLR{Peak: -1e-3, Steps: 1}, "Peak: got -0.001, want a finite number of at least 0"},
		{train.CosineLR{Peak: 1, Steps: -5}, "Steps: got -5, want at least 1"},
		{train.CosineLR{Peak: 1, WarmupSteps: 10, Steps: 9}, "WarmupSteps: got 10, want less than Steps=9"},
		{train.CosineLR{Peak: 0.25, Floor: 0.5, Steps: 9}, "Floor: got 0.5, want at most Peak=0.25"},
		{train.WSD{Peak: nan, DecaySteps: 1}, "Peak: got NaN, want a finite number of at least 0"},
		{train.WSD{Peak: 1, Floor: 2, DecaySteps: 1}, "Floor: got 2, want at most Peak=1"},
		{train.WSD{Peak: 1, WarmupSteps: -1, DecaySteps: 1}, "WarmupSteps: got -1, want at least 0"},
		{train.WSD{Peak: 1, StableSteps: -1, DecaySteps: 1}, "StableSteps: got -1, want at least 0"},
		{train.WSD{Peak: 1}, "DecaySteps: got 0, want at least 1"},
	} {
		require.EqualError(t, row.schedule.Validate(), row.want)
	}
	require.NoError(t, train.ConstantRate(0).Validate())
	require.Equal(t, 0.25, train.ConstantRate(0.25).At(7))
}
