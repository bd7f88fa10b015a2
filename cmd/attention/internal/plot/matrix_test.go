package plot

import (
	"image/color"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
)

// TestNumbers: four digits as PyTorch prints them, fewer where there is less room, and no sign before 0.
func TestNumbers(t *testing.T) {
	wide := func(columns int) Matrix { return Matrix{Values: [][]float64{make([]float64, columns)}} }
	for _, c := range []struct {
		columns int
		v       float64
		want    string
	}{
		{1, 0.12345, "0.1235"}, {8, -0.5, "-0.5000"}, {9, 0.125, "0.12"}, {24, 3.14159, "3.14"}, {25, 0.5, ""},
		{2, 0, "0"}, {2, 2, "2"}, {2, -1, "-1"}, {2, math.Inf(-1), "-inf"}, {2, math.Inf(1), "+inf"}, {2, math.NaN(), "NaN"},
		{9, -0.001, "0.00"}, {2, -0.00001, "0.0000"},
		{2, 1.0000001, "1"}, {2, 1e-8, "0.0000"}, {2, 1e6, "1000000.0000"}, {2, math.Copysign(0, -1), "0"},
	} {
		require.Equal(t, c.want, wide(c.columns).number(c.v), "%v in %d columns", c.v, c.columns)
	}
}

// TestScale: numbers from 0 to 1 share one scale, others have their own.
func TestScale(t *testing.T) {
	inf := math.Inf(-1)
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{0.1, 0.3}, 1}, {[]float64{0, 0}, 1}, {[]float64{0.1, inf}, 1}, {[]float64{0.1, -0.4}, 0.4},
		{[]float64{2, 0.5, inf}, 2}, {[]float64{inf, inf}, 1},
	} {
		require.InDelta(t, c.want, Matrix{Values: [][]float64{c.values}}.largest(), 0)
	}
	white, _ := cellColors(0, 1)
	require.Equal(t, color.NRGBA{R: 255, G: 255, B: 255, A: 255}, white)
	blue, text := cellColors(1, 1)
	orange, _ := cellColors(-1, 1)
	require.Greater(t, blue.(color.NRGBA).B, blue.(color.NRGBA).R)
	require.Greater(t, orange.(color.NRGBA).R, orange.(color.NRGBA).B)
	require.Equal(t, color.White, text, "on dark")
	_, text = cellColors(-1, 1)
	require.Equal(t, color.Black, text, "white on orange has a contrast of 2.8, black one of 7.4")
	hidden, _ := cellColors(inf, 1)
	require.Equal(t, hiddenGrey, hidden)
}

func TestCut(t *testing.T) {
	style := textStyle(8)
	require.Equal(t, "word", cut("word", style, 100))
	require.Equal(t, "", cut("word", style, 1))
	short := cut("a very long word", style, 30)
	require.LessOrEqual(t, style.Width(short), vg.Length(30))
	require.Contains(t, short, "…")
}
