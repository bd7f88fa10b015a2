package torchrand

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

const bigPrec = 300 // bits; the series below are summed to 2⁻²⁵⁰

// maxError is the bound in boxmuller64.go, in units of the result's last place, of which
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

func bigNew() *big.Float { return new(big.Float).SetPrec(bigPrec) }

func add(a, b float64) *big.Float { return bigNew().Add(big.NewFloat(a), big.NewFloat(b)) }
func sub(a, b float64) *big.Float { return bigNew().Sub(big.NewFloat(a), big.NewFloat(b)) }

// bigAtanh returns 2·(s + s³/3 + s⁵/5 + …) = ln((den+num)/(den-num)), with s = num/den.
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

// bigSeries returns the Taylor series of sin x (from power 1) or cos x (from power 0).
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

// errorInUlp returns |got - want| in units of want's last place.
func errorInUlp(got float64, want *big.Float) float64 {
	if want.Sign() == 0 {
		return math.Abs(got) / math.SmallestNonzeroFloat64
	}
	diff, _ := bigNew().Sub(want, big.NewFloat(got)).Float64()
	return math.Abs(math.Ldexp(diff, 53-want.MantExp(nil)))
}
