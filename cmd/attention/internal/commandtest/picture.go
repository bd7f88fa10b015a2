package commandtest

import (
	"image/color"
	"image/png"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// WeightColors returns the colours that every heat map shows, by what they mean.
func WeightColors() map[string]color.NRGBA {
	return map[string]color.NRGBA{
		"no weight": {0xff, 0xff, 0xff, 0xff}, "the greatest weight": {0x08, 0x30, 0x6b, 0xff}, "text": {0, 0, 0, 0xff},
	}
}

// RequirePicture requires a PNG that shows each colour, up to rounding.
func RequirePicture(t *testing.T, path string, colors map[string]color.NRGBA) {
	t.Helper()
	for name, color := range colors {
		require.Greater(t, Pixels(t, path, color), 20, "%s: %s", path, name)
	}
}

// Pixels returns the number of pixels of a PNG that have the colour, up to rounding.
func Pixels(t *testing.T, path string, of color.NRGBA) (n int) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	picture, err := png.Decode(f)
	require.NoError(t, err)
	box := picture.Bounds()
	require.GreaterOrEqual(t, box.Dx(), 400)
	require.GreaterOrEqual(t, box.Dy(), 400)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			pixel := color.NRGBAModel.Convert(picture.At(x, y)).(color.NRGBA)
			if near(pixel, of) {
				n++
			}
		}
	}
	return n
}

// near reports whether two colours are equal up to rounding.
func near(a, b color.NRGBA) bool {
	for _, d := range []int{int(a.R) - int(b.R), int(a.G) - int(b.G), int(a.B) - int(b.B)} {
		if d < -4 || d > 4 {
			return false
		}
	}
	return true
}
