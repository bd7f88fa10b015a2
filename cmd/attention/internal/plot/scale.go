package plot

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
)

// colors returns the scale of colours of the maps. It reports whether a cell is hidden.
func (m HeatMaps) colors() (colors palette.ColorMap, hidden bool) {
	if m.Signed {
		top, hidden := scaleTop(m.Maps, []float64{1, 1.5, 2, 3, 4, 5, 6, 8, 10})
		return blueToRed(top), hidden
	}
	top, hidden := scaleTop(m.Maps, []float64{1, 2, 5, 10})
	return whiteToBlue(top), hidden
}

// scaleTop returns the end of the scale for some maps: one of ends times a power of 10, such as 1, 0.5 or 0.2, so that
// most pictures have the same scale. Weights that are infinite, or nearly so, have the colours of its ends. It reports
// whether a cell is hidden.
func scaleTop(maps []HeatMap, ends []float64) (top float64, hidden bool) {
	largest := 0.01 // a scale cannot be empty
	for _, h := range maps {
		for _, v := range h.Values {
			if math.IsNaN(v) {
				hidden = true
			} else if fits(v) {
				largest = max(largest, math.Abs(v))
			}
		}
	}
	decade := math.Pow(10, math.Floor(math.Log10(largest)))
	for _, top = range ends {
		if top *= decade; top*(1+1e-6) >= largest {
			break
		}
	}
	return top, hidden
}

// hiddenGrey is the colour of a cell that a mask hides.
var hiddenGrey = color.NRGBA{R: 0xc8, G: 0xc8, B: 0xc8, A: 0xff}

// whiteToBlue returns colours for the numbers from 0 to top, whose lightness falls evenly; white is 0.
func whiteToBlue(top float64) palette.ColorMap {
	darkToLight, err := moreland.NewLuminance([]color.Color{
		color.NRGBA{R: 0x08, G: 0x30, B: 0x6b, A: 0xff}, color.NRGBA{R: 0x3b, G: 0x8b, B: 0xc4, A: 0xff}, color.White})
	if err != nil {
		panic(err) // each of the colours is lighter than the one before
	}
	darkToLight.SetMax(top)
	return palette.Reverse(darkToLight)
}

// blueToRed returns colours for the numbers from -top to top: blue, white in the middle, red.
func blueToRed(top float64) palette.ColorMap {
	colors := moreland.SmoothBlueRed()
	colors.SetMin(-top)
	colors.SetMax(top)
	return colors
}
