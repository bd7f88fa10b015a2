package bench

import (
	"errors"
	"math"
	"slices"
	"testing"

	"attention/graph/machine"
	"attention/internal/simd"

	"github.com/stretchr/testify/require"
)

// The work computes the output and, with backward, the gradient of each parameter.
func TestBenchComputesWhatItSays(t *testing.T) {
	for _, c := range []struct {
		mode   string
		shapes [][]int
	}{
		{mode: forwardOnly, shapes: [][]int{{2, 7, 6}}},
		{mode: forwardBackward, shapes: [][]int{{2, 7, 6}, {6, 6}, {6, 6}, {6, 6}, {6, 6}, {6}}},
	} {
		wanted, err := graphOf(small(7, c.mode))
		require.NoError(t, err)
		m, err := machine.New(wanted...)
		require.NoError(t, err)
		require.NoError(t, m.RunAll())
		var got [][]int
		for _, n := range wanted {
			got = append(got, n.Shape())
			for _, x := range n.Value().Data().([]float32) {
				require.False(t, x == 0 || math.IsNaN(float64(x)) || math.IsInf(float64(x), 0), "%v: %v", n, x)
			}
		}
		require.Equal(t, c.shapes, got, c.mode)
	}
}

// A layer whose products, forward and backward, are in bfloat16 gives nearly what it gives in full precision.
func TestBenchComputesInBFloat16(t *testing.T) {
	t.Setenv(simd.BF16Variable, "emulated")
	values := func(precision string) (all [][]float32) {
		w := small(7, forwardBackward)
		w.Precision = precision
		wanted, err := graphOf(w)
		require.NoError(t, err)
		m, err := machine.New(wanted...)
		require.NoError(t, err)
		require.NoError(t, m.RunAll())
		for _, n := range wanted {
			all = append(all, n.Value().Data().([]float32))
		}
		return all
	}
	full, rounded := values(""), values("bf16")
	for i := range full {
		if i < len(full)-1 { // the bias's gradient is a sum of the upstream gradient
			require.NotEqual(t, full[i], rounded[i])
		}
		require.InDeltaSlice(t, full[i], rounded[i], 0.1)
	}
}

func TestBenchTimesRuns(t *testing.T) {
	calls := 0
	count := func() error { calls++; return nil }
	for _, c := range []struct{ runs, want int }{{runs: 1, want: 1}, {runs: 3, want: 3}, {runs: 0, want: 1000}} {
		calls = 0
		took, err := timeRuns(c.runs, count)
		require.NoError(t, err)
		require.Len(t, took, c.want)
		require.Equal(t, c.want+1, calls, "one run to warm up")
	}
	for fails := range 3 {
		calls = 0
		_, err := timeRuns(2, func() error {
			if calls++; calls > fails {
				return errors.New("broken")
			}
			return nil
		})
		require.EqualError(t, err, "broken")
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		times []float64
		want  float64
	}{
		{times: []float64{7}, want: 7},
		{times: []float64{4, 1}, want: 2.5},
		{times: []float64{9, 3, 1}, want: 3},
		{times: []float64{100, 2, 4, 6}, want: 5},
	} {
		before := slices.Clone(c.times)
		require.Equal(t, c.want, median(c.times))
		require.Equal(t, before, c.times, "the times stay in order")
	}
}
