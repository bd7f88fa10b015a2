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
		return orangeToBlue(top), hidden
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
	return palette.Reverse(rising(top, color.NRGBA{R: 0x08, G: 0x30, B: 0x6b, A: 0xff},
		color.NRGBA{R: 0x3b, G: 0x8b, B: 0xc4, A: 0xff}, color.White))
}

// rising returns colours for the numbers from 0 to top, whose lightness rises evenly from each control to the next.
func rising(top float64, controls ...color.Color) palette.ColorMap {
	colors, err := moreland.NewLuminance(controls)
	if err != nil {
		panic(err) // each of the colours is lighter than the one before
	}
	colors.SetMax(top)
	return colors
}

// orangeToBlue returns colours for the numbers from -top to top: orange, white in the middle, and those of whiteToBlue.
func orangeToBlue(top float64) palette.ColorMap {
	oranges := palette.Reverse(rising(top, color.NRGBA{R: 0x6b, G: 0x2c, B: 0x04, A: 0xff},
		color.NRGBA{R: 0xdf, G: 0x7d, B: 0x1e, A: 0xff}, color.White))
	return signed{whiteToBlue(top), oranges}
}

// signed is colours for the numbers from -top to top: those of two maps from 0 to top, one for each sign.
type signed struct {
	palette.ColorMap
	negative palette.ColorMap
}

// At returns the colour of a number.
func (s signed) At(v float64) (color.Color, error) {
	if v < 0 {
		return s.negative.At(-v)
	}
	return s.ColorMap.At(v)
}

// Min returns -top.
func (s signed) Min() float64 { return -s.Max() }

// Palette returns n colours, evenly from -top to top.
func (s signed) Palette(n int) palette.Palette {
	colors := make(colorList, n)
	for i := range colors {
		v := float64(2*i-n+1) / float64(n-1) * s.Max()
		var err error
		if colors[i], err = s.At(v); err != nil {
			panic(err) // v is from -top to top
		}
	}
	return colors
}

// colorList is a palette.
type colorList []color.Color

// Colors returns the colours.
func (c colorList) Colors() []color.Color { return c }
