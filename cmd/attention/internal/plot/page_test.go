package plot

import (
	"bytes"
	"image/color"
	"image/png"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"
)

// A page of few numbers is drawn too: of a single point, of none above 0 on a logarithmic axis, without maps.
func TestPage(t *testing.T) {
	red := color.NRGBA{R: 0xd5, G: 0x5e, A: 0xff}
	curve := func(points ...float64) []Curve {
		c := Curve{Name: "curve", Color: red, Width: 3}
		for i, y := range points {
			c.Points = append(c.Points, plotter.XY{X: float64(i), Y: y})
		}
		return []Curve{c}
	}
	cell := HeatMap{Title: "a cell", Columns: []string{"1"}, Rows: []string{"1"}, Values: []float64{-1}}
	for _, row := range []struct {
		reason string
		page   Page
		drawn  bool
	}{
		{reason: "two points", drawn: true, page: Page{Panels: []Panel{{Curves: curve(1, 2)}}}},
		{reason: "on a logarithmic axis", drawn: true, page: Page{Panels: []Panel{{Curves: curve(0, 1, 100), Log: true}}}},
		{reason: "a point", drawn: true, page: Page{Panels: []Panel{{Curves: curve(1)}, {Curves: curve(1), Log: true}}}},
		{reason: "zeros", drawn: true, page: Page{Panels: []Panel{{Curves: curve(0, 0)}}}},
		{reason: "nothing above 0", page: Page{Panels: []Panel{{Curves: curve(0, 0), Log: true}}}},
		{reason: "no curves", page: Page{Panels: []Panel{{}, {}, {}, {}}}},
		{reason: "a map", page: Page{Panels: []Panel{{}}, Maps: HeatMaps{Maps: []HeatMap{cell}, Signed: true, Across: 5}}},
	} {
		var file bytes.Buffer
		row.page.Title = row.reason
		require.NoError(t, row.page.Write(&file), row.reason)
		picture, err := png.Decode(&file)
		require.NoError(t, err)
		count := 0
		for y := range picture.Bounds().Dy() {
			for x := range picture.Bounds().Dx() {
				if color.NRGBAModel.Convert(picture.At(x, y)) == red {
					count++
				}
			}
		}
		require.Equal(t, row.drawn, count > 20, "%s: %d pixels", row.reason, count)
	}
}

// Signed weights have 0 in the middle of the scale, at equal distances from both ends.
func TestSignedScale(t *testing.T) {
	top, _ := scaleTop([]HeatMap{{Values: []float64{-0.26, 0.1}}}, []float64{1, 1.5, 2, 3, 4, 5, 6, 8, 10})
	require.InDelta(t, 0.3, top, 1e-15)
	colors := blueToRed(top)
	shade := func(v float64) (r, b uint32) {
		c, err := colors.At(v)
		require.NoError(t, err)
		r, _, b, _ = c.RGBA()
		return r, b
	}
	r, b := shade(-top)
	require.Greater(t, b, r)
	r, b = shade(top)
	require.Greater(t, r, b)
	r, b = shade(0)
	require.InDelta(t, float64(r), float64(b), 300)
	require.False(t, math.IsNaN(colors.Min()))
}
