package tiles

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A picture has equally many asking tiles of each kind. Each asks for a Digit: beside an arrow, or on the only other
// tile of its colour.
func TestTilesAsk(t *testing.T) {
	random, short := rand.New(rand.NewPCG(1, 0)), 0
	directions := map[int]int{}
	for range 500 {
		all, count, pairs := pictureOf(random), map[Kind]int{}, map[int][]int{}
		for at, tile := range all {
			count[tile.Kind]++
			require.Equal(t, Digit, all[tile.Answer].Kind)
			if tile.colour > 0 {
				pairs[tile.colour] = append(pairs[tile.colour], at)
			}
			switch tile.Kind {
			case Digit:
				require.Equal(t, at, tile.Answer)
			case Arrow:
				directions[tile.arrow]++
				beside, ok := beside(at, tile.arrow)
				require.True(t, ok)
				require.Equal(t, beside, tile.Answer)
				require.Zero(t, tile.colour)
			case Colour:
				require.Equal(t, tile.colour, all[tile.Answer].colour)
			}
		}
		require.Equal(t, askersByColour, count[Colour])
		if count[Arrow] < askersByArrow {
			short++
		}
		require.Len(t, pairs, askersByColour)
		for colour, pair := range pairs {
			require.Len(t, pair, 2, "tiles of colour %d", colour)
		}
	}
	require.Less(t, short, 5, "pictures without room for all arrows")
	for arrow := range arrows {
		require.Greater(t, directions[arrow], 350, "arrows %s", arrows[arrow].name)
	}
}
