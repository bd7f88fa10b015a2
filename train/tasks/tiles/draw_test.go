package tiles

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// No two tiles with different meanings have the same picture.
func TestTilesDiffer(t *testing.T) {
	var all []Tile
	for colour := range colours {
		for digit := range Digits {
			all = append(all, Tile{Digit: digit, colour: colour})
		}
		all = append(all, Tile{Kind: Colour, colour: colour})
	}
	for arrow := range arrows {
		all = append(all, Tile{Kind: Arrow, arrow: arrow})
	}
	seen := map[string]bool{}
	require.Equal(t, []string{"7", "an arrow left", "? on grey"},
		[]string{fmt.Sprint(Tile{Digit: 7}), fmt.Sprint(all[len(all)-1]), fmt.Sprint(all[Digits])})
	for _, shown := range all {
		page := make([]Tile, Tiles)
		page[0] = shown
		picture := Draw(page)
		look := ""
		for y := range tileSize {
			for x := range tileSize {
				look += fmt.Sprint(picture.NRGBAAt(x, y))
			}
		}
		require.False(t, seen[look], "%+v", shown)
		seen[look] = true
	}
}
