package tiles

import (
	"math/rand/v2"

	"attention/train"

	"gorgonia.org/tensor"
)

// Names of a model's inputs.
const (
	pixelsInput  = "pixels"  // (B, Height, Width, 3), from 0 to 1
	answersInput = "answers" // (B, Tiles), the digits that the tiles ask for
)

// Pictures is an endless source of batches of random pictures. The memory of a batch is reused.
type Pictures struct {
	random   *rand.Rand
	batch    train.Batch
	pictures [][]Tile
	pixels   []float32
	answers  []int
}

// NewPictures returns a source of batches of size pictures.
func NewPictures(size int, random *rand.Rand) *Pictures {
	pixels := tensor.New(tensor.Of(tensor.Float32), tensor.WithShape(size, width, width, 3))
	answers := tensor.New(tensor.Of(tensor.Int), tensor.WithShape(size, Tiles))
	return &Pictures{random: random, pictures: make([][]Tile, size), pixels: pixels.Float32s(), answers: answers.Ints(),
		batch: train.Batch{Inputs: train.Values{pixelsInput: pixels, answersInput: answers},
			Tokens: size * Tiles}}
}

// Next draws pictures.
func (p *Pictures) Next() (train.Batch, error) {
	for i := range p.pictures {
		p.pictures[i] = pictureOf(p.random)
		picture := Draw(p.pictures[i])
		to := p.pixels[i*width*width*3:]
		for at := range width * width {
			for channel := range 3 {
				to[at*3+channel] = float32(picture.Pix[at*4+channel]) / 0xff
			}
		}
		for at, t := range p.pictures[i] {
			p.answers[i*Tiles+at] = p.pictures[i][t.Answer].Digit
		}
	}
	return p.batch, nil
}

// Picture returns the tiles of picture i of the batch, row by row.
func (p *Pictures) Picture(i int) []Tile { return p.pictures[i] }
