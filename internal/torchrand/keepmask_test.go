package torchrand

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestKeepMaskTakesOneDraw(t *testing.T) {
	for _, n := range []int{1, 36, 1000} {
		g, h := New(123), New(123)
		KeepMask(g, make([]float32, n), 0.3)
		h.Uint32()
		assert.Equal(t, *h, *g, "%d values", n)
	}
}

func TestKeepMaskIsTheSameForBothTypes(t *testing.T) {
	a, b := make([]float32, 100), make([]float64, 100)
	KeepMask(New(123), a, 0.25)
	KeepMask(New(123), b, 0.25)
	for i := range a {
		assert.Equal(t, b[i], float64(a[i]))
	}
}

// After the draw 1 the values x are 1, a, a², … mod 2³¹-1; each is kept up to p = 1-x/(2³¹-1).
func TestKeepMaskFollowsMCG31(t *testing.T) {
	xs := []float64{1, 1132489760, 826537482}
	for _, draw := range []uint32{1, 1 << 31, 0, 1<<31 - 1} { // 0 mod 2³¹-1 stands for 1
		for i, x := range xs {
			d := make([]float64, len(xs))
			KeepMask(nextDraw(draw), d, 1-(x+0.5)/(1<<31-1))
			assert.Equal(t, 1., d[i], "draw %d, value %d: below 1-p", draw, i)
			KeepMask(nextDraw(draw), d, 1-(x-0.5)/(1<<31-1))
			assert.Equal(t, 0., d[i], "draw %d, value %d: above 1-p", draw, i)
		}
	}
}

func TestKeepMaskCertainties(t *testing.T) {
	g := New(5)
	before := *g
	d := []float32{7, 7, 7}
	KeepMask(g, d, 0)
	assert.Equal(t, []float32{1, 1, 1}, d)
	KeepMask(g, d, 1)
	assert.Equal(t, []float32{0, 0, 0}, d)
	assert.Equal(t, before, *g, "PyTorch draws nothing for p = 0 and p = 1")

	KeepMask(g, d, math.NaN())
	assert.Equal(t, []float32{0, 0, 0}, d)
}

// For 1e6 values the standard deviation of the rate is below 5e-4; the tolerance is five of them.
func TestKeepMaskRate(t *testing.T) {
	d := make([]float32, 1e6)
	for _, p := range []float64{0.1, 0.5, 0.9} {
		KeepMask(New(11), d, p)
		sum := 0.
		for _, v := range d {
			sum += float64(v)
		}
		assert.InDelta(t, 1-p, sum/1e6, 2.5e-3)
	}
}
