package commandtest

import (
	"image"
	"image/color"
	"image/png"
	"os"
	"slices"
	"testing"

	"attention/cmd/attention/internal/plot"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg/vgimg"
)

// SketchPictures makes the tests of a package draw pictures with few pixels, except in those that call DrawPictures.
func SketchPictures() { plot.DotsPerInch = 24 }

// DrawPictures makes a test draw pictures as the program does.
func DrawPictures(t *testing.T) {
	sketched := plot.DotsPerInch
	plot.DotsPerInch = vgimg.DefaultDPI
	t.Cleanup(func() { plot.DotsPerInch = sketched })
}

// WeightColors returns the colours that every heat map shows, by what they mean.
func WeightColors() map[string]color.NRGBA {
	return map[string]color.NRGBA{
		"no weight": {0xff, 0xff, 0xff, 0xff}, "the greatest weight": {0x08, 0x30, 0x6b, 0xff}, "text": {0, 0, 0, 0xff},
	}
}

// RequirePicture requires a PNG that shows each colour, up to rounding.
func RequirePicture(t *testing.T, path string, colors map[string]color.NRGBA) {
	t.Helper()
	picture := readPicture(t, path)
	for name, color := range colors {
		require.Greater(t, pixels(picture, color), 20, "%s: %s", path, name)
	}
}

// Pixels returns the number of pixels of a PNG that have the colour, up to rounding.
func Pixels(t *testing.T, path string, of color.NRGBA) int {
	t.Helper()
	return pixels(readPicture(t, path), of)
}

// readPicture reads a PNG without transparency.
func readPicture(t *testing.T, path string) *image.RGBA {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	picture, err := png.Decode(f)
	require.NoError(t, err)
	require.IsType(t, &image.RGBA{}, picture)
	box := picture.Bounds()
	require.GreaterOrEqual(t, box.Dx(), 400)
	require.GreaterOrEqual(t, box.Dy(), 400)
	return picture.(*image.RGBA)
}

func pixels(picture *image.RGBA, of color.NRGBA) (n int) {
	for pixel := range slices.Chunk(picture.Pix, 4) {
		if near(pixel[0], of.R) && near(pixel[1], of.G) && near(pixel[2], of.B) {
			n++
		}
	}
	return n
}

// near reports whether two parts of colours are equal up to rounding.
func near(a, b uint8) bool { return max(a, b)-min(a, b) <= 4 }
