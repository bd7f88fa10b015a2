package plot

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"
)

// pixelsOf returns how many pixels of a PNG without transparency have each colour.
func pixelsOf(t *testing.T, file *bytes.Buffer) map[color.NRGBA]int {
	picture, err := png.Decode(file)
	require.NoError(t, err)
	require.IsType(t, &image.RGBA{}, picture)
	seen := map[color.NRGBA]int{}
	pix := picture.(*image.RGBA).Pix
	for len(pix) > 0 { // counts runs of one colour together: most pixels are paper
		n := 4
		for n < len(pix) && bytes.Equal(pix[n:n+4], pix[:4]) {
			n += 4
		}
		seen[color.NRGBA{R: pix[0], G: pix[1], B: pix[2], A: pix[3]}] += n / 4
		pix = pix[n:]
	}
	return seen
}
