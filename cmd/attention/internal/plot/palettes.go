package plot

import (
	"encoding/hex"
	"image/color"

	"gonum.org/v1/plot/palette"
)

// Palette is the colours of a page's pictures, 256 of each kind one after another as hexadecimal bytes rrggbb.
type Palette struct {
	Weights string `json:"weights"` // from 0 to the largest number
	Signed  string `json:"signed"`  // from orange, the most negative number, over 0 to blue
}

// Palettes returns the colours of pictures on light and on dark paper; files have the light ones.
func Palettes() (light, dark Palette) {
	paper := color.NRGBA{R: 0x17, G: 0x1b, B: 0x21, A: 0xff}
	blue, paleBlue := color.NRGBA{R: 0x2c, G: 0x7c, B: 0xc4, A: 0xff}, color.NRGBA{R: 0xd8, G: 0xec, B: 0xff, A: 0xff}
	orange, paleOrange := color.NRGBA{R: 0xb8, G: 0x5c, B: 0x14, A: 0xff}, color.NRGBA{R: 0xff, G: 0xe3,
		B: 0xc8, A: 0xff}
	blues, oranges := rising(1, paper, blue, paleBlue), rising(1, paper, orange, paleOrange)
	return Palette{hexOf(whiteToBlue(1)), hexOf(orangeToBlue(1))}, Palette{hexOf(blues), hexOf(signed{blues, oranges})}
}

// hexOf returns 256 colours of a map as hexadecimal bytes.
func hexOf(colors palette.ColorMap) string {
	var all []byte
	for _, c := range colors.Palette(256).Colors() {
		n := color.NRGBAModel.Convert(c).(color.NRGBA)
		all = append(all, n.R, n.G, n.B)
	}
	return hex.EncodeToString(all)
}
