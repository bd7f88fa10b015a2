package why

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A picture has as many askers of each kind, and each asks for a digit: beside an arrow, or on the one other tile of a
// colour.
func TestTilesAsk(t *testing.T) {
	random, short := streamed(1, trainStream), 0
	directions := map[int]int{}
	for range 500 {
		all, count, colours := pictureOf(random), map[int]int{}, map[int][]int{}
		for at, tile := range all {
			count[tile.kind]++
			require.Equal(t, digitTile, all[tile.answer].kind)
			if tile.colour > 0 {
				colours[tile.colour] = append(colours[tile.colour], at)
			}
			switch tile.kind {
			case digitTile:
				require.Equal(t, at, tile.answer)
			case arrowTile:
				directions[tile.arrow]++
				beside, ok := beside(at, tile.arrow)
				require.True(t, ok)
				require.Equal(t, beside, tile.answer)
				require.Zero(t, tile.colour)
			case colourTile:
				require.Equal(t, tile.colour, all[tile.answer].colour)
			}
		}
		require.Equal(t, askersByColour, count[colourTile])
		if count[arrowTile] < askersByArrow {
			short++
		}
		require.Len(t, colours, askersByColour)
		for colour, pair := range colours {
			require.Len(t, pair, 2, "tiles of colour %d", colour)
		}
	}
	require.Less(t, short, 5, "pictures without room for all arrows")
	for arrow := range arrows {
		require.Greater(t, directions[arrow], 350, "arrows %s", arrows[arrow].name)
	}
}

// No two tiles that mean different things look alike, and the numbers of a batch are the picture's.
func TestTilesDiffer(t *testing.T) {
	var all []tile
	for colour := range tileColours {
		for digit := range digits {
			all = append(all, tile{digit: digit, colour: colour})
		}
		all = append(all, tile{kind: colourTile, colour: colour})
	}
	for arrow := range arrows {
		all = append(all, tile{kind: arrowTile, arrow: arrow})
	}
	seen := map[string]bool{}
	for _, shown := range all {
		page := make([]tile, tiles)
		page[0] = shown
		picture := drawTiles(page)
		look := ""
		for y := range tileSize {
			for x := range tileSize {
				look += fmt.Sprint(picture.NRGBAAt(x, y))
			}
		}
		require.False(t, seen[look], "%+v", shown)
		seen[look] = true
	}
	b := newTileBatch(2, streamed(3, testStream))
	_, err := b.Next()
	require.NoError(t, err)
	picture := drawTiles(b.pictures[1])
	for _, at := range [][2]int{{0, 0}, {5, 3}, {41, 17}} {
		c := picture.NRGBAAt(at[0], at[1])
		pixel := b.pixels[((width+at[1])*width+at[0])*3:][:3]
		require.InDeltaSlice(t, []float64{float64(c.R) / 255, float64(c.G) / 255, float64(c.B) / 255},
			[]float64{float64(pixel[0]), float64(pixel[1]), float64(pixel[2])}, 1e-6)
	}
	require.Equal(t, b.pictures[1][b.pictures[1][7].answer].digit, b.answers[tiles+7])
}
