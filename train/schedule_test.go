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
	c := train.Cosine{Peak: 3e-3, Floor: 3e-4, WarmupSteps: 5, Steps: 20}
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

	cold := train.Cosine{Peak: 1, Steps: 2}
	require.Equal(t, []float64{1, 0.5, 0}, []float64{cold.At(0), math.Round(cold.At(1)*1e15) / 1e15, cold.At(2)})
}

func TestScheduleValidate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for want, s := range map[string]train.Schedule{
		"train: learning rate: got NaN, want a finite number >= 0":                  train.Constant{Rate: nan},
		"train: learning rate: got -1, want a finite number >= 0":                   train.Constant{Rate: -1},
		"train: learning rate: got +Inf, want a finite number >= 0":                 train.Constant{Rate: inf},
		"train: peak learning rate: got NaN, want a finite number >= 0":             train.Cosine{Peak: nan, Steps: 1},
		"train: floor of the learning rate: got -1, want a finite number >= 0":      train.Cosine{Peak: 1, Floor: -1, Steps: 1},
		"train: floor of the learning rate: got 2, want at most the peak of 1":      train.Cosine{Peak: 1, Floor: 2, Steps: 1},
		"train: warm-up steps: got -1, want a number >= 0":                          train.Cosine{Peak: 1, WarmupSteps: -1, Steps: 1},
		"train: schedule steps: got 3, want more than the 3 of the warm-up":         train.Cosine{Peak: 1, WarmupSteps: 3, Steps: 3},
		"train: schedule steps: got 0, want more than the 0 of the warm-up":         train.Cosine{Peak: 1},
		"train: floor of the learning rate: got +Inf, want a finite number >= 0":    train.Cosine{Peak: 1, Floor: inf, Steps: 1},
		"train: peak learning rate: got -0.001, want a finite number >= 0":          train.Cosine{Peak: -1e-3, Steps: 1},
		"train: schedule steps: got -5, want more than the 0 of the warm-up":        train.Cosine{Peak: 1, Steps: -5},
		"train: schedule steps: got 9, want more than the 10 of the warm-up":        train.Cosine{Peak: 1, WarmupSteps: 10, Steps: 9},
		"train: floor of the learning rate: got 0.5, want at most the peak of 0.25": train.Cosine{Peak: 0.25, Floor: 0.5, Steps: 9},
	} {
		require.EqualError(t, s.Validate(), want)
	}
	require.NoError(t, train.Constant{}.Validate())
	require.Equal(t, 0.25, train.Constant{Rate: 0.25}.At(7))
}
