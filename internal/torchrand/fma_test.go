package torchrand

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// fma32 equals exact arithmetic, also where rounding twice errs.
func TestFMA32(t *testing.T) {
	const h = 0x1p-23 // the distance of float32 values from 1 to 2
	rows := [][3]float64{
		{1 + h, 0x1p-24 * (1 - h), 1 + h}, // just below halfway: rounding twice rounds up
		{1 + h, 0x1p-24 * (1 - h), -1 - h},
		{-1 - h, 0x1p-24 * (1 - h), -1 - h},
		{1 + h, 0x1p-24 * (1 + h), 1}, // just above
		{1, 0x1p-24, 1},               // halfway
		{1, 0x1p-24, 1 + h},
		{0, 1, 0}, {0, 5, -3}, {1, 1, -1},
	}
	src := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		a := 1 + h*float64(src.IntN(1<<23))
		b := math.Ldexp(1+h*float64(src.IntN(1<<23)), src.IntN(60)-50)
		c := 1 + h*float64(src.IntN(1<<23))
		rows = append(rows, [3]float64{a, b, c}, [3]float64{a, -b, c})
	}
	twiceErrs := 0
	for _, r := range rows {
		exact := bigNew().Mul(big.NewFloat(r[0]), big.NewFloat(r[1]))
		exact.Add(exact, big.NewFloat(r[2]))
		want, _ := exact.Float32()
		assert.Equal(t, float64(want), fma32(r[0], r[1], r[2]), "fma32(%x)", r)
		if twice := float32(float64(r[0]*r[1]) + r[2]); twice != want {
			twiceErrs++
		}
	}
	assert.Positive(t, twiceErrs, "the rows include some where rounding twice errs")
	assert.Equal(t, math.Inf(1), fma32(math.Inf(1), 1, 1))
	assert.True(t, math.IsNaN(fma32(math.NaN(), 1, 1)))
}
