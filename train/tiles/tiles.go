package why

import (
	"image"
	"image/color"
	"math/rand/v2"

	"attention/train"

	"gorgonia.org/tensor"
)

const (
	side     = 6           // tiles, of a picture
	tiles    = side * side // of a picture
	tileSize = 7           // pixels, of the side of a tile
	width    = side * tileSize
	digits   = 10

	askersByArrow  = 4
	askersByColour = 4
)

// The kinds of tiles, by what they show.
const (
	digitTile  = iota
	arrowTile  // asks for the digit on the tile beside it
	colourTile // asks for the digit on the other tile of its colour
)

// tile is one tile of a picture.
type tile struct {
	kind   int // digitTile, arrowTile or colourTile
	digit  int // of a digitTile
	arrow  int // of an arrowTile: which of arrows
	colour int // of tileColours; 0 is grey
	answer int // the tile that it asks for: a digit asks for itself
}

// tileColours are the colours of tiles. Tiles without a pair have the first.
var tileColours = []struct {
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

// arrows are the directions of arrows.
var arrows = []struct {
	name          string
	rows, columns int
}{{"up", -1, 0}, {"right", 0, 1}, {"down", 1, 0}, {"left", 0, -1}}

// pictureOf draws the tiles of a picture at random: first pairs of a colour, then arrows to digits, digits elsewhere.
func pictureOf(random *rand.Rand) []tile {
	all := make([]tile, tiles)
	for i := range all {
		all[i] = tile{digit: random.IntN(digits), answer: i}
	}
	places, hues := random.Perm(tiles), random.Perm(len(tileColours)-1)
	taken := map[int]bool{}
	for i := range askersByColour {
		asker, pair := places[2*i], places[2*i+1]
		all[pair].colour = 1 + hues[i]
		all[asker] = tile{kind: colourTile, colour: 1 + hues[i], answer: pair}
		taken[asker], taken[pair] = true, true
	}
	for asked, at := 0, 2*askersByColour; asked < askersByArrow && at < tiles; at++ {
		asker, arrow := places[at], random.IntN(len(arrows))
		answer, ok := beside(asker, arrow)
		if taken[asker] || !ok || all[answer].kind != digitTile {
			continue
		}
		all[asker] = tile{kind: arrowTile, arrow: arrow, answer: answer}
		taken[asker], taken[answer] = true, true
		asked++
	}
	return all
}

// beside returns the tile to which an arrow points, and reports whether there is one.
func beside(at, arrow int) (int, bool) {
	r, c := at/side+arrows[arrow].rows, at%side+arrows[arrow].columns
	return r*side + c, r >= 0 && r < side && c >= 0 && c < side
}

// glyphs are five columns and rows of ink each, and a blank column: the digits, the question mark, the arrows.
var glyphs = [...]string{
	".###. ..#.. .###. .###. .#.#. .###. .###. .###. .###. .###. .###. ..#.. ..#.. ..#.. ..#.. ",
	".#.#. .##.. ...#. ...#. .#.#. .#... .#... ...#. .#.#. .#.#. ...#. .###. ..##. ..#.. .##.. ",
	".#.#. ..#.. .###. ..##. .###. .###. .###. ...#. .###. .###. ..#.. ##### ##### ##### ##### ",
	".#.#. ..#.. .#... ...#. ...#. ...#. .#.#. ...#. .#.#. ...#. ..... ..#.. ..##. .###. .##.. ",
	".###. .###. .###. .###. ...#. .###. .###. ...#. .###. .###. ..#.. ..#.. ..#.. ..#.. ..#.. ",
}

// drawTiles returns the picture that shows the tiles.
func drawTiles(all []tile) *image.NRGBA {
	picture := image.NewNRGBA(image.Rect(0, 0, width, width))
	for i, t := range all {
		t.draw(picture, i%side*tileSize, i/side*tileSize)
	}
	return picture
}

// draw draws the tile with its corner at (x, y): a white frame above and at the left, colour, ink.
func (t tile) draw(picture *image.NRGBA, x, y int) {
	for j := range tileSize {
		for i := range tileSize {
			c := tileColours[t.colour].paint
			if i == 0 || j == 0 {
				c = color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}
			} else if t.inked(i-1, j-1) {
				c = color.NRGBA{R: 0x20, G: 0x20, B: 0x20, A: 0xff}
			}
			picture.SetNRGBA(x+i, y+j, c)
		}
	}
}

// inked reports whether the tile has ink in column i and row j within its frame.
func (t tile) inked(i, j int) bool {
	glyph := [...]int{digitTile: t.digit, colourTile: digits, arrowTile: digits + 1 + t.arrow}[t.kind]
	return j < len(glyphs) && glyphs[j][6*glyph+i] == '#'
}

// The inputs of a model of pictures.
const (
	pixelsInput  = "pixels"  // (B, Height, Width, 3), from 0 to 1
	answersInput = "answers" // (B, tiles), the digits that the tiles ask for
)

// tileBatch is a batch of pictures whose memory is reused.
type tileBatch struct {
	random   *rand.Rand
	batch    train.Batch
	pictures [][]tile
	pixels   []float32
	answers  []int
}

func newTileBatch(size int, random *rand.Rand) *tileBatch {
	pixels := tensor.New(tensor.Of(tensor.Float32), tensor.WithShape(size, width, width, 3))
	answers := tensor.New(tensor.Of(tensor.Int), tensor.WithShape(size, tiles))
	return &tileBatch{random: random, pictures: make([][]tile, size), pixels: pixels.Float32s(), answers: answers.Ints(),
		batch: train.Batch{Inputs: train.Values{pixelsInput: pixels, answersInput: answers},
			Tokens: size * tiles}}
}

// Next draws pictures.
func (b *tileBatch) Next() (train.Batch, error) {
	for i := range b.pictures {
		b.pictures[i] = pictureOf(b.random)
		picture := drawTiles(b.pictures[i])
		to := b.pixels[i*width*width*3:]
		for at := range width * width {
			for channel := range 3 {
				to[at*3+channel] = float32(picture.Pix[at*4+channel]) / 0xff
			}
		}
		for at, t := range b.pictures[i] {
			b.answers[i*tiles+at] = b.pictures[i][t.answer].digit
		}
	}
	return b.batch, nil
}
