package plot

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

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
