package torchrand

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

const bigPrec = 300 // bits; the series below are summed to 2⁻²⁵⁰

// maxError is what boxmuller64.go promises, in units of the result's last place.
// 0.5 is the final rounding.
const maxError = 0.54

func TestLogAccuracy(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	xs := []float64{
		1, 0.5, 0x1p-53, 1 - 0x1p-53, math.Sqrt2 / 2, math.Nextafter(math.Sqrt2/2, 0), math.Nextafter(math.Sqrt2/2, 1),
	}
	for range 2000 {
		xs = append(xs, 1-src.Float64(), math.Exp(-36*src.Float64()))
	}
	ln2 := bigAtanh(big.NewFloat(1), big.NewFloat(3))
	for _, x := range xs {
		m, e := math.Frexp(x)
		f := bigAtanh(sub(m, 1), add(m, 1))
		want := bigNew().Add(f, bigNew().Mul(ln2, bigNew().SetInt64(int64(e))))
		assert.LessOrEqual(t, errorInUlp(log(x), want), maxError, "log(%v)", x)
	}
}

func TestSincosAccuracy(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 4))
	xs := []float64{0, 0x1p-52, 2 * math.Pi}
	for k := 1.; k <= 8; k++ { // the borders and the zeros, and their neighbours
		x := k * math.Pi / 4
		xs = append(xs, x, math.Nextafter(x, 0), math.Nextafter(x, 7))
	}
	for range 2000 {
		xs = append(xs, 2*math.Pi*src.Float64())
	}
	for _, x := range xs {
		sin, cos := sincos(x)
		assert.LessOrEqual(t, errorInUlp(sin, bigSeries(x, 1)), maxError, "sin(%v)", x)
		assert.LessOrEqual(t, errorInUlp(cos, bigSeries(x, 0)), maxError, "cos(%v)", x)
	}
}

// TestFMA32 compares with exact arithmetic, on values where rounding twice errs.
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

func bigNew() *big.Float { return new(big.Float).SetPrec(bigPrec) }

func add(a, b float64) *big.Float { return bigNew().Add(big.NewFloat(a), big.NewFloat(b)) }
func sub(a, b float64) *big.Float { return bigNew().Sub(big.NewFloat(a), big.NewFloat(b)) }

// bigAtanh is 2·(s + s³/3 + s⁵/5 + …) with s = num/den, which is ln((den+num)/(den-num)).
func bigAtanh(num, den *big.Float) *big.Float {
	s := bigNew().Quo(num, den)
	z := bigNew().Mul(s, s)
	sum := bigNew()
	for n := int64(1); s.Sign() != 0 && s.MantExp(nil) > -250; n += 2 {
		sum.Add(sum, bigNew().Quo(s, bigNew().SetInt64(n)))
		s.Mul(s, z)
	}
	return sum.Mul(sum, big.NewFloat(2))
}

// bigSeries is the Taylor series of sin x (from the power 1) or cos x (from 0).
func bigSeries(x float64, power int64) *big.Float {
	z := bigNew().Mul(big.NewFloat(x), big.NewFloat(-x))
	term := bigNew().SetInt64(1)
	if power == 1 {
		term.SetFloat64(x)
	}
	sum := bigNew()
	for n := power; term.Sign() != 0 && term.MantExp(nil) > -250; n += 2 {
		sum.Add(sum, term)
		term.Mul(term, z)
		term.Quo(term, bigNew().SetInt64((n+1)*(n+2)))
	}
	return sum
}

// errorInUlp is |got - want| in units of want's last place.
func errorInUlp(got float64, want *big.Float) float64 {
	if want.Sign() == 0 {
		return math.Abs(got) / math.SmallestNonzeroFloat64
	}
	diff, _ := bigNew().Sub(want, big.NewFloat(got)).Float64()
	return math.Abs(math.Ldexp(diff, 53-want.MantExp(nil)))
}
