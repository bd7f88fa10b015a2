// Package tiles is a task that needs attention: random pictures of tiles, some of which ask for the digit on another
// tile. It has a transformer that answers with or without attention, and measures the answers.
package tiles

import (
	"fmt"
	"math/rand/v2"
)

// The pictures of the task.
const (
	Side   = 6           // number of tiles of a picture
	Tiles  = Side * Side // of a picture
	Digits = 10

	askersByArrow  = 4
	askersByColour = 4
)

// Kind is the kind of symbol on a tile.
type Kind int

// The kinds of tiles.
const (
	Digit  Kind = iota
	Arrow       // asks for the digit on the tile beside it
	Colour      // asks for the digit on the other tile of its colour
)

// Tile is one tile of a picture.
type Tile struct {
	Kind   Kind
	Digit  int // of a Digit
	Answer int // number of the tile that it asks for: a Digit asks for itself

	arrow  int // for an Arrow, index in arrows
	colour int // index in colours; 0 is grey
}

// String returns the symbol on the tile: "7", "an arrow up" or "? on red".
func (t Tile) String() string {
	switch t.Kind {
	case Arrow:
		return "an arrow " + arrows[t.arrow].name
	case Colour:
		return "? on " + colours[t.colour].name
	}
	return fmt.Sprint(t.Digit)
}

// arrows are the directions of arrows.
var arrows = []struct {
	name          string
	rows, columns int
}{{"up", -1, 0}, {"right", 0, 1}, {"down", 1, 0}, {"left", 0, -1}}

// pictureOf draws the tiles of a picture at random: first pairs of a colour, then arrows that point to digits, then
// digits on the other tiles.
func pictureOf(random *rand.Rand) []Tile {
	all := make([]Tile, Tiles)
	for i := range all {
		all[i] = Tile{Digit: random.IntN(Digits), Answer: i}
	}
	places, hues := random.Perm(Tiles), random.Perm(len(colours)-1)
	taken := map[int]bool{}
	for i := range askersByColour {
		asker, pair := places[2*i], places[2*i+1]
		all[pair].colour = 1 + hues[i]
		all[asker] = Tile{Kind: Colour, colour: 1 + hues[i], Answer: pair}
		taken[asker], taken[pair] = true, true
	}
	for asked, at := 0, 2*askersByColour; asked < askersByArrow && at < Tiles; at++ {
		asker, arrow := places[at], random.IntN(len(arrows))
		answer, ok := beside(asker, arrow)
		if taken[asker] || !ok || all[answer].Kind != Digit {
			continue
		}
		all[asker] = Tile{Kind: Arrow, arrow: arrow, Answer: answer}
		taken[asker], taken[answer] = true, true
		asked++
	}
	return all
}

// beside returns the tile to which an arrow points, and reports whether there is one.
func beside(at, arrow int) (int, bool) {
	r, c := at/Side+arrows[arrow].rows, at%Side+arrows[arrow].columns
	return r*Side + c, r >= 0 && r < Side && c >= 0 && c < Side
}
