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
		"Rate: got NaN, want a finite number of at least 0":    train.Constant{Rate: nan},
		"Rate: got -1, want a finite number of at least 0":     train.Constant{Rate: -1},
		"Rate: got +Inf, want a finite number of at least 0":   train.Constant{Rate: inf},
		"Peak: got NaN, want a finite number of at least 0":    train.Cosine{Peak: nan, Steps: 1},
		"Floor: got -1, want a finite number of at least 0":    train.Cosine{Peak: 1, Floor: -1, Steps: 1},
		"Floor: got 2, want at most Peak=1":                    train.Cosine{Peak: 1, Floor: 2, Steps: 1},
		"WarmupSteps: got -1, want at least 0":                 train.Cosine{Peak: 1, WarmupSteps: -1, Steps: 1},
		"WarmupSteps: got 3, want less than Steps=3":           train.Cosine{Peak: 1, WarmupSteps: 3, Steps: 3},
		"Steps: got 0, want at least 1":                        train.Cosine{Peak: 1},
		"Floor: got +Inf, want a finite number of at least 0":  train.Cosine{Peak: 1, Floor: inf, Steps: 1},
		"Peak: got -0.001, want a finite number of at least 0": train.Cosine{Peak: -1e-3, Steps: 1},
		"Steps: got -5, want at least 1":                       train.Cosine{Peak: 1, Steps: -5},
		"WarmupSteps: got 10, want less than Steps=9":          train.Cosine{Peak: 1, WarmupSteps: 10, Steps: 9},
		"Floor: got 0.5, want at most Peak=0.25":               train.Cosine{Peak: 0.25, Floor: 0.5, Steps: 9},
	} {
		require.EqualError(t, s.Validate(), want)
	}
	require.NoError(t, train.Constant{}.Validate())
	require.Equal(t, 0.25, train.Constant{Rate: 0.25}.At(7))
}
