package torchrand

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUniformStaysInRange(t *testing.T) {
	g := New(1)
	x := make([]float64, 10000)
	Uniform(g, x, -2, 3)
	y := make([]float32, 10000)
	Uniform(g, y, -2, 3)
	low, high := math.Inf(1), math.Inf(-1)
	for i := range x {
		low = min(low, x[i], float64(y[i]))
		high = max(high, x[i], float64(y[i]))
	}
	assert.GreaterOrEqual(t, low, -2.)
	assert.Less(t, high, 3.)
	assert.InDelta(t, -2, low, 0.01)
	assert.InDelta(t, 3, high, 0.01)

	// The largest draw, 1-2⁻²⁴, is halfway between 2-2⁻²³ and 2 in [1, 2) and rounds to 2,
	// as in PyTorch 1.13.
	d := []float32{0}
	Uniform(nextDraw(math.MaxUint32), d, 1, 2)
	assert.Equal(t, float32(2), d[0])
	// A draw of zero is the smallest.
	Uniform(nextDraw(0), d, 1, 2)
	assert.Equal(t, float32(1), d[0])
}
