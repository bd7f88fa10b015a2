package plot

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Rows go down, columns go right.
func TestGrid(t *testing.T) {
	g := grid{3, []float64{
		1, 0, 0,
		2, 3, 0,
	}}
	cols, rows := g.Dims()
	require.Equal(t, []int{3, 2}, []int{cols, rows})
	require.Equal(t, 1.0, g.Z(0, 1), "row 0 is on top")
	require.Equal(t, 2.0, g.Z(0, 0))
	require.Equal(t, 3.0, g.Z(1, 0))
}

// Each row and column has its label.
func TestHeatMapLabels(t *testing.T) {
	colors, err := whiteToBlue(1)
	require.NoError(t, err)
	h := HeatMap{Columns: []string{"a", "b", "c"}, Rows: []string{"d", "e"}, Values: make([]float64, 6)}
	p := h.plot("x", "y", colors)
	labels := ""
	columns, rows := p.X.Tick.Marker.Ticks(0, 1), p.Y.Tick.Marker.Ticks(0, 1)
	require.Len(t, columns, 3)
	require.Len(t, rows, 2)
	for i, c := range columns {
		require.Equal(t, float64(i), c.Value)
		labels += c.Label
	}
	for i, r := range rows {
		require.Equal(t, float64(1-i), r.Value)
		labels += r.Label
	}
	require.Equal(t, "abcde", labels)
}
