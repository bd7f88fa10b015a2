package torchrand

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// For a draw u1 of 0, ln(1-u1) = 0; for the largest it is finite.
func TestNormalAtTheEndsOfTheRange(t *testing.T) {
	d := make([]float32, 16)
	e := make([]float64, 16)
	boxMuller32(d, 0, 1)
	boxMuller64(e, 0, 1)
	assert.Equal(t, make([]float32, 16), d)
	assert.Equal(t, make([]float64, 16), e)

	for i := range 8 {
		d[i], d[i+8] = 1-1./(1<<24), 0
		e[i], e[i+8] = 1-1./(1<<53), 0
	}
	boxMuller32(d, 0, 1)
	boxMuller64(e, 0, 1)
	assert.InDelta(t, math.Sqrt(2*24*math.Ln2), d[0], 1e-6, "1 ulp of float32 is 5e-7")
	assert.InDelta(t, math.Sqrt(2*53*math.Ln2), e[0], 1e-15, "1 ulp of float64 is 9e-16")
	assert.Zero(t, d[8])
	assert.Zero(t, e[8])
}

// Short fills share one unused value over calls and types; long ones do not touch it.
func TestNormalKeepsTheSecondOfAPair(t *testing.T) {
	pair := make([]float64, 2)
	Normal(New(9), pair, 0, 1)

	g := New(9)
	first := make([]float64, 1)
	Normal(g, first, 0, 1)
	Normal(g, make([]float32, 16), 0, 1)
	second := make([]float32, 1)
	Normal(g, second, 0, 1)
	assert.Equal(t, pair[0], first[0])
	assert.Equal(t, float32(pair[1]), second[0])
}
