package compare

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpread(t *testing.T) {
	mean, deviation := spread([]float64{2, 4, 9})
	require.Equal(t, 5.0, mean)
	require.InDelta(t, 3.605551, deviation, 1e-6)
	_, deviation = spread([]float64{3})
	require.Zero(t, deviation)
}
