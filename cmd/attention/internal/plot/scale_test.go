package plot

import (
	"math"
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
