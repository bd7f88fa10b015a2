package tiles

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The numbers of a batch are the pictures'.
func TestPictures(t *testing.T) {
	p := NewPictures(2, rand.New(rand.NewPCG(3, 1)))
	_, err := p.Next()
	require.NoError(t, err)
	picture := Draw(p.Picture(1))
	for _, at := range [][2]int{{0, 0}, {5, 3}, {41, 17}} {
		c := picture.NRGBAAt(at[0], at[1])
		pixel := p.pixels[((width+at[1])*width+at[0])*3:][:3]
		require.InDeltaSlice(t, []float64{float64(c.R) / 255, float64(c.G) / 255, float64(c.B) / 255},
			[]float64{float64(pixel[0]), float64(pixel[1]), float64(pixel[2])}, 1e-6)
	}
	require.Equal(t, p.pictures[1][p.pictures[1][7].Answer].Digit, p.answers[Tiles+7])
}
