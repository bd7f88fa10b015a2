package train

import (
	"testing"

	"attention/train"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"
)

// TestMeanLosses: groups of one size, the last one smaller.
func TestMeanLosses(t *testing.T) {
	var steps []train.StepResult
	for n := range 7 {
		steps = append(steps, train.StepResult{Step: n + 1, Loss: float64(10 * n)})
	}
	require.Equal(t, plotter.XYs{{X: 2, Y: 10}, {X: 5, Y: 40}, {X: 7, Y: 60}}, meanLosses(steps, 3))
	require.Len(t, meanLosses(steps, 100), 7)
	require.Empty(t, meanLosses(nil, 100))
}
