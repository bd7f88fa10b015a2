package plot

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
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

// The maps of a picture fill about a page, and no picture is wider than a screen.
func TestHeatMapsGrid(t *testing.T) {
	for _, row := range []struct{ maps, rows, columns, across int }{
		{maps: 1, rows: 32, columns: 32, across: 1},
		{maps: 2, rows: 8, columns: 8, across: 2},
		{maps: 4, rows: 10, columns: 28, across: 2},
		{maps: 12, rows: 32, columns: 32, across: 4},
		{maps: 16, rows: 10, columns: 6, across: 6},
	} {
		m := HeatMaps{Maps: make([]HeatMap, row.maps)}
		m.Maps[0] = HeatMap{Columns: make([]string, row.columns), Rows: make([]string, row.rows)}
		cols, width, _ := m.grid()
		require.Equal(t, row.across, cols, "%+v", row)
		require.LessOrEqual(t, float64(cols)*float64(width), float64(gridSide))
	}
}

// A hidden cell is grey, a weight of 0 is white and the greatest is dark.
func TestHiddenCellsAreGrey(t *testing.T) {
	count := func(values []float64) map[color.NRGBA]int {
		var file bytes.Buffer
		labels := []string{"a", "b"}
		m := HeatMaps{Title: "title", Maps: []HeatMap{{Columns: labels, Rows: labels, Values: values}}}
		require.NoError(t, m.Write(&file))
		return pixelsOf(t, &file)
	}
	const cell = 40_000 // pixels, nearly
	masked, unmasked := count([]float64{1, math.NaN(), 0, 1}), count([]float64{1, 0, 0, 1})
	require.Greater(t, masked[hiddenGrey], cell)
	require.Less(t, unmasked[hiddenGrey], 1000)
	white := color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}
	require.Greater(t, unmasked[white]-masked[white], cell)
	require.Greater(t, masked[color.NRGBA{R: 0x08, G: 0x30, B: 0x6b, A: 0xff}], 2*cell)
}

// A line goes from the middle of a patch to the middle of another; a weight that is too small has no line.
func TestLooks(t *testing.T) {
	white := color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}
	page := image.NewNRGBA(image.Rect(0, 0, 4, 4))
	for i := range page.Pix {
		page.Pix[i] = 0xff
	}
	draw := func(weights ...float64) image.Image {
		var file bytes.Buffer
		l := FocusGrid{Picture: page, Rows: 2, Columns: 2, Heads: []Focus{{From: []int{0}, Weights: [][]float64{weights}}}}
		require.NoError(t, l.Write(&file))
		picture, err := png.Decode(&file)
		require.NoError(t, err)
		return picture
	}
	// at returns the colour at a place of the picture, in quarters from its left and upper sides.
	at := func(p image.Image, x, y int) color.NRGBA {
		const dots = 120.0 / 72
		left, top := focusMargin*dots, float64(p.Bounds().Dy())-(focusMargin+focusSide)*dots
		c := p.At(int(left+float64(x)*focusSide*dots/4), int(top+float64(y)*focusSide*dots/4))
		return color.NRGBAModel.Convert(c).(color.NRGBA)
	}
	down := draw(0, 0, 1, 0.05) // to patch 2, below
	require.NotEqual(t, white, at(down, 1, 2), "half way")
	require.NotEqual(t, white, at(down, 1, 3), "its end")
	require.Equal(t, white, at(down, 3, 1), "another patch")
	require.Equal(t, white, at(down, 2, 2), "on the way to one with a small weight")
	across := draw(0, 0.5, 0, 0)
	require.NotEqual(t, white, at(across, 2, 1))
	require.Equal(t, white, at(across, 1, 2))
}
