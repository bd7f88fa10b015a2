package plot

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The scale ends at the next of 1, 0.5, 0.2, 0.1, … and hidden cells do not count.
func TestScaleTop(t *testing.T) {
	for _, row := range []struct {
		reason string
		maps   []HeatMap
		top    float64
		hidden bool
	}{
		{reason: "of all maps", maps: []HeatMap{{Values: []float64{0.3}}, {Values: []float64{0.7}}}, top: 1},
		{reason: "rounded up", maps: []HeatMap{{Values: []float64{0.17}}}, top: 0.2},
		{reason: "reached", maps: []HeatMap{{Values: []float64{0.5}}}, top: 0.5},
		{reason: "above by rounding", maps: []HeatMap{{Values: []float64{1.0000001}}}, top: 1},
		{reason: "hidden", maps: []HeatMap{{Values: []float64{math.NaN(), 0.09}}}, top: 0.1, hidden: true},
		{reason: "of no weight", maps: []HeatMap{{Values: []float64{0}}}, top: 0.01},
	} {
		top, hidden := scaleTop(row.maps, []float64{1, 2, 5, 10})
		require.InDelta(t, row.top, top, 1e-15, row.reason)
		require.Equal(t, row.hidden, hidden, row.reason)
	}
}

// Signed weights have 0 in the middle of the scale, at equal distances from both ends.
func TestSignedScale(t *testing.T) {
	top, _ := scaleTop([]HeatMap{{Values: []float64{-0.26, 0.1}}}, []float64{1, 1.5, 2, 3, 4, 5, 6, 8, 10})
	require.InDelta(t, 0.3, top, 1e-15)
	colors := orangeToBlue(top)
	shade := func(v float64) (r, b uint32) {
		c, err := colors.At(v)
		require.NoError(t, err)
		r, _, b, _ = c.RGBA()
		return r, b
	}
	r, b := shade(-top)
	require.Greater(t, r, b, "negative is orange")
	r, b = shade(top)
	require.Greater(t, b, r, "positive is blue")
	r, b = shade(0)
	require.InDelta(t, float64(r), float64(b), 300)
	require.False(t, math.IsNaN(colors.Min()))
}

// The palettes of a page begin at its paper, and those of light paper are those of pictures.
func TestPalettes(t *testing.T) {
	light, dark := Palettes()
	for _, p := range []Palette{light, dark} {
		require.Len(t, p.Weights, 6*256)
		require.Len(t, p.Signed, 6*256)
	}
	require.Equal(t, "ffffff", light.Weights[:6])
	require.Equal(t, "08306b", light.Weights[6*255:])
	for _, p := range []Palette{light, dark} {
		require.Equal(t, p.Weights[6*255:], p.Signed[6*255:], "positive numbers have the colours of weights")
		require.NotEqual(t, p.Weights[6*255:], p.Signed[:6])
	}
}

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

// Each line is its letter in the row of its value, rounded; where two meet there is an asterisk.
func TestText(t *testing.T) {
	got := Text([]int{4, 5, 6}, []TextLine{{Mark: 'a', Name: "first", Y: []float64{0, 44, 100}},
		{Mark: 'b', Name: "second", Y: []float64{100, 46, 100}}}, "length")
	require.Equal(t, strings.Join([]string{
		"  100 | b   *",
		"   90 |",
		"   80 |",
		"   70 |",
		"   60 |",
		"   50 |   b",
		"   40 |   a",
		"   30 |",
		"   20 |",
		"   10 |",
		"    0 | a",
		"      +------",
		"          5",
		"       length",
		"       a first   b second   * more than one",
		"",
	}, "\n"), got)
}
