package tiles

import (
	"image"
	"image/color"
)

// Sizes of a picture in pixels.
const (
	tileSize = 7 // of the side of a tile
	width    = Side * tileSize
)

// colours are the colours of tiles. Tiles without a pair have the first colour.
var colours = []struct {
	name  string
	paint color.NRGBA
}{
	{"grey", color.NRGBA{R: 0xe6, G: 0xe6, B: 0xe6, A: 0xff}},
	{"red", color.NRGBA{R: 0xff, G: 0x8f, B: 0x80, A: 0xff}},
	{"blue", color.NRGBA{R: 0x8c, G: 0xc8, B: 0xff, A: 0xff}},
	{"green", color.NRGBA{R: 0x92, G: 0xe0, B: 0x8c, A: 0xff}},
	{"yellow", color.NRGBA{R: 0xff, G: 0xe0, B: 0x66, A: 0xff}},
	{"violet", color.NRGBA{R: 0xd0, G: 0xa2, B: 0xf0, A: 0xff}},
	{"turquoise", color.NRGBA{R: 0x80, G: 0xe6, B: 0xe0, A: 0xff}},
}

// glyphs are drawings of five columns and rows, with a blank column after each: the digits, the question mark, the
// arrows.
var glyphs = [...]string{
	".###. ..#.. .###. .###. .#.#. .###. .###. .###. .###. .###. .###. ..#.. ..#.. ..#.. ..#.. ",
	".#.#. .##.. ...#. ...#. .#.#. .#... .#... ...#. .#.#. .#.#. ...#. .###. ..##. ..#.. .##.. ",
	".#.#. ..#.. .###. ..##. .###. .###. .###. ...#. .###. .###. ..#.. ##### ##### ##### ##### ",
	".#.#. ..#.. .#... ...#. ...#. ...#. .#.#. ...#. .#.#. ...#. ..... ..#.. ..##. .###. .##.. ",
	".###. .###. .###. .###. ...#. .###. .###. ...#. .###. .###. ..#.. ..#.. ..#.. ..#.. ..#.. ",
}

// Draw returns the picture that shows the tiles.
func Draw(all []Tile) *image.NRGBA {
	picture := image.NewNRGBA(image.Rect(0, 0, width, width))
	for i, t := range all {
		t.draw(picture, i%Side*tileSize, i/Side*tileSize)
	}
	return picture
}

// draw draws the tile with its corner at (x, y): a white frame above and at the left, colour, ink.
func (t Tile) draw(picture *image.NRGBA, x, y int) {
	for j := range tileSize {
		for i := range tileSize {
			c := colours[t.colour].paint
			if i == 0 || j == 0 {
				c = color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}
			} else if t.inked(i-1, j-1) {
				c = color.NRGBA{R: 0x20, G: 0x20, B: 0x20, A: 0xff}
			}
			picture.SetNRGBA(x+i, y+j, c)
		}
	}
}

// inked reports whether the tile has ink at column i and row j inside its frame.
func (t Tile) inked(i, j int) bool {
	glyph := [...]int{Digit: t.Digit, Colour: Digits, Arrow: Digits + 1 + t.arrow}[t.Kind]
	return j < len(glyphs) && glyphs[j][6*glyph+i] == '#'
}
