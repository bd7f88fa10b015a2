package torchrand

import (
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
}

func TestCopyContinuesOnItsOwn(t *testing.T) {
	g := New(7)
	g.Uint32()
	c := *g
	want := g.Uint64()
	assert.Equal(t, want, c.Uint64())
}

func TestEmptyFillsDrawNothing(t *testing.T) {
	g := New(3)
	before := *g
	Uniform(g, []float32{}, 0, 1)
	Normal(g, []float64(nil), 0, 1)
	KeepMask(g, []float32{}, 0.5)
	assert.Equal(t, before, *g)
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
