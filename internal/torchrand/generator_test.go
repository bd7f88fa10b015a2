package torchrand

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The C++ standard fixes the 10000th draw of a default-seeded mt19937.
func TestUint32IsMersenneTwister(t *testing.T) {
	g := New(5489)
	for range 9999 {
		g.Uint32()
	}
	assert.Equal(t, uint32(4123659995), g.Uint32())
}

func TestUint64TakesTheHighWordFirst(t *testing.T) {
	g, h := New(123), New(123)
	for range 1000 { // 2000 words: several renewals, at even and odd places
		high, low := g.Uint32(), g.Uint32()
		assert.Equal(t, uint64(high)<<32|uint64(low), h.Uint64())
	}
}

func TestSeedUsesTheLow32Bits(t *testing.T) {
	assert.Equal(t, New(5).Uint64(), New(1<<40+5).Uint64())
	assert.NotEqual(t, New(5).Uint64(), New(6).Uint64())
	assert.NotEqual(t, New(5).State(), New(1<<40+5).State(), "the state keeps the whole seed")
}

func TestZeroGeneratorIsSeedZero(t *testing.T) {
	var g, h Generator
	assert.Equal(t, New(0).State(), g.State())
	assert.Equal(t, New(0).Uint64(), h.Uint64())
	assert.Equal(t, New(0).Uint64(), g.Uint64())
}

func TestCopyContinuesOnItsOwn(t *testing.T) {
	g := New(7)
	g.Uint32()
	c := *g
	want := g.Uint64()
	assert.Equal(t, want, c.Uint64())
}

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
	assert.Less(t, e[0], maxNormal, "what a State accepts")
}

func TestEmptyFillsDrawNothing(t *testing.T) {
	g := New(3)
	before := g.State()
	Uniform(g, []float32{}, 0, 1)
	Normal(g, []float64(nil), 0, 1)
	KeepMask(g, []float32{}, 0.5)
	assert.Equal(t, before, g.State())
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

// nextDraw returns a generator whose next draw is x.
func nextDraw(x uint32) *Generator {
	g := New(1)
	g.Uint32()
	g.words[g.next] = untemper(x)
	return g
}

// untemper returns the word for which Uint32 returns y. It inverts the four steps.
func untemper(y uint32) uint32 {
	y ^= y >> 18
	y ^= y << 15 & 0xefc60000
	x := y
	for range 5 {
		x = y ^ x<<7&0x9d2c5680
	}
	y = x
	for range 3 {
		x = y ^ x>>11
	}
	return x
}
