package plot

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"
)

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
