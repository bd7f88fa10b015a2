package kernel

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"attention/internal/simd"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
)

// spacing is the distance from |x| to the next larger number of F.
func spacing[F Float](x float64) float64 {
	digits, least := 52, -1074
	if simd.SizeOf[F]() == 4 {
		digits, least = 23, -149
	}
	_, e := math.Frexp(x)
	return math.Ldexp(1, max(e-1-digits, least))
}

// unitsOff is the distance of got from the exact value, in units of the exact value's last place. An infinite result is
// right from half a unit above the largest number on.
func unitsOff[F Float](got F, want float64) float64 {
	g := float64(got)
	if g == want || g != g && want != want || float64(F(want)) == g {
		return 0 // also the right infinity
	}
	return math.Abs(g-want) / spacing[F](want)
}

// eachSingle calls f for about 2³²/step float32 numbers of the interval, bit pattern by bit pattern.
func eachSingle(from, to float32, step uint32, f func(x []float32)) {
	block := make([]float32, 0, 4096)
	for bits := uint64(math.Float32bits(from)); bits <= uint64(math.Float32bits(to)); bits += uint64(step) {
		block = append(block, math.Float32frombits(uint32(bits)))
		if len(block) == cap(block) {
			f(block)
			block = block[:0]
		}
	}
	f(block)
}

// applied returns a function without settings.
func applied(f Function) func(y, x []float32) {
	return func(y, x []float32) { Apply(f, Settings{}, y, x) }
}

// worstSingle returns the greatest error of a function over float32 numbers of both signs up to most.
func worstSingle(most float32, step uint32, f func(y, x []float32), want func(x float64) float64) (
	worst float64, at float32) {
	if testenv.Race || testing.Short() { // with the first math's functions become ten times slower
		step *= 17
	}
	y := make([]float32, 4096)
	for _, from := range []float32{0, float32(math.Copysign(0, -1))} {
		eachSingle(from, float32(math.Copysign(float64(most), float64(1/from))), step, func(x []float32) {
			f(y[:len(x)], x)
			for i, v := range x {
				if off := unitsOff(y[i], want(float64(v))); !(off <= worst) {
					worst, at = off, v
				}
			}
		})
	}
	return worst, at
}

// exactExp is e^x to many more digits than a float64 has: (Σ (x/2⁶⁴)ᵏ/k!)^(2⁶⁴).
func exactExp(x float64) *big.Float {
	const digits, halvings = 200, 64
	r := new(big.Float).SetPrec(digits).SetFloat64(x)
	r.SetMantExp(r, -halvings)
	sum, term := big.NewFloat(1).SetPrec(digits), big.NewFloat(1).SetPrec(digits)
	for k := 1; k < 10; k++ {
		term.Quo(term.Mul(term, r), new(big.Float).SetPrec(digits).SetInt64(int64(k)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// exactUnitsOff is unitsOff for an exact value that float64 cannot hold.
func exactUnitsOff(got float64, want *big.Float) float64 {
	near, _ := want.Float64()
	if math.IsInf(near, 0) || math.IsInf(got, 0) {
		return unitsOff(got, near)
	}
	off, _ := new(big.Float).Sub(new(big.Float).SetPrec(200).SetFloat64(got), want).Float64()
	return math.Abs(off) / spacing[float64](near)
}

// For all numbers from 2⁻²⁷ to 110 of either sign, the error of the assembly is at most 0.895 units, and that of plain
// Go, which rounds its products, at most 0.992.
func TestExpSingleIsWithinOneUnit(t *testing.T) {
	for _, p := range paths() {
		onPath(t, p)
		worst, at := worstSingle(float32(math.Inf(1)), 1009, applied(Exp), math.Exp)
		t.Logf("%v: %.3f units at %v", p, worst, at)
		require.LessOrEqual(t, worst, 1.0, "%v: at %v", p, at)
	}
}

func TestExpDoubleIsWithinOneOrTwoUnits(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 1))
	x := []float64{
		0, math.Copysign(0, -1), 1, -1, 5e-324, 709.78, 709.79, -708.39, -708.4, -745.1, -745.2, math.Ln2 / 2, 1e-300,
	}
	for range 4000 {
		x = append(x, r.NormFloat64(), (r.Float64()-0.5)*1500, -708-40*r.Float64())
	}
	exact := make([]*big.Float, len(x))
	for i, v := range x {
		exact[i] = exactExp(v)
	}
	for _, p := range paths() {
		onPath(t, p)
		y, worst := make([]float64, len(x)), 0.0
		Apply(Exp, Settings{}, y, x)
		for i, v := range x {
			limit := 1.0
			if p == simd.Go || v < -708.39 {
				limit = 2 // math.Exp is off by up to 1.5; a subnormal result is rounded twice
			}
			off := exactUnitsOff(y[i], exact[i])
			worst = max(worst, off)
			require.LessOrEqual(t, off, limit, "%v: at %v", p, v)
		}
		t.Logf("%v: %.3f units", p, worst)
	}
}

func testExpSpecial[F Float](t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct{ x, want float64 }{
		{x: -inf, want: 0},
		{x: inf, want: inf},
		{x: nan, want: nan},
		{x: 0, want: 1},
		{x: math.Copysign(0, -1), want: 1},
		{x: -math.MaxFloat32, want: 0},
		{x: math.MaxFloat32, want: inf},
		{x: -1000, want: 0},
		{x: 1000, want: inf},
	} {
		for n := 1; n < 20; n++ { // whole vectors, and a partial one
			x, y := make([]F, n), make([]F, n)
			x[n-1] = F(c.x)
			Apply(Exp, Settings{}, y, x)
			for i, v := range y[:n-1] {
				require.Equal(t, F(1), v, "%v at %d of %d", c, i, n)
			}
			same := y[n-1] == F(c.want) || y[n-1] != y[n-1] && c.want != c.want
			require.True(t, same, "exp %v: got %v, want %v", c.x, y[n-1], c.want)
		}
	}
}

func TestExpOfSpecialNumbers(t *testing.T) {
	for _, p := range paths() {
		onPath(t, p)
		testExpSpecial[float32](t)
		testExpSpecial[float64](t)
	}
}
