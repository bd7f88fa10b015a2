package plot

import (
	"bytes"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
)

// TestMatricesLayout: steps go from left to right while there is room, and none lies on another or outside.
func TestMatricesLayout(t *testing.T) {
	square := func(n int) (values [][]float64) {
		for range n {
			values = append(values, make([]float64, n))
		}
		return values
	}
	m := Matrices{Title: "steps", Steps: []Matrix{
		{Title: "a", Values: square(3)},
		{Title: "b = f(a)", Text: "A text that is too long for a single line above six columns.",
			Values: square(6), Rows: []string{"one", "two"}, Follows: true},
		{Title: "c", Values: square(1)}, {Title: "d", Values: square(40)}, {Title: "e", Values: square(2)}}}
	places, height := m.layout()
	for i, s := range m.Steps {
		a := places[i]
		require.LessOrEqual(t, a.Y+s.above()+s.height(), height)
		for j := range i {
			b, other := places[j], m.Steps[j]
			require.True(t, a.X >= b.X+other.width()+stepGap || a.Y >= b.Y+other.above()+other.height() ||
				b.X >= a.X+s.width()+stepGap, "steps %d and %d", i, j)
		}
	}
	require.Equal(t, places[0].Y, places[1].Y)
	require.Greater(t, places[3].Y, places[2].Y, "too wide for the row")
	require.Len(t, m.Steps[1].lines(), 2)

	var written bytes.Buffer
	require.NoError(t, m.Write(&written))
	picture, err := png.Decode(&written)
	require.NoError(t, err)
	require.InDelta(t, float64(height/vg.Inch*96), picture.Bounds().Dy(), 1)
}
