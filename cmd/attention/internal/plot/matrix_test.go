package plot

import (
	"bytes"
	"image/color"
	"image/png"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
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

// Letters keep their widths even if the font would move a pair together, at each alignment.
func TestFillText(t *testing.T) {
	style := textStyle(8)
	require.Less(t, style.Width("111"), textWidth(style, "111"))
	require.InDelta(t, 3*float64(style.Width("1")), float64(textWidth(style, "111")), 1e-9)
	one := style.Width("1")
	for _, row := range []struct {
		align draw.XAlignment
		first vg.Length
	}{{draw.XLeft, 0}, {draw.XCenter, -one}, {draw.XRight, -2 * one}} {
		var drawn recorder.Canvas
		c := draw.NewCanvas(&drawn, 100, 100)
		style.XAlign = row.align
		fillText(c, style, vg.Point{X: 50, Y: 50}, "11")
		var at []vg.Length
		for _, action := range drawn.Actions {
			if text, ok := action.(*recorder.FillString); ok {
				require.Equal(t, "1", text.String)
				at = append(at, text.Point.X-50)
			}
		}
		require.Len(t, at, 2)
		require.InDelta(t, float64(row.first), float64(at[0]), 1e-9)
		require.InDelta(t, float64(one), float64(at[1]-at[0]), 1e-9)
	}
}

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
