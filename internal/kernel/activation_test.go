package kernel

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"attention/internal/simd"

	"github.com/stretchr/testify/require"
)

// For all numbers from 2⁻¹⁴ to 12 of either sign, the error of the assembly is at most 2.62 units.
func TestTanhSingleIsWithinThreeUnits(t *testing.T) {
	for _, p := range paths() {
		onPath(t, p)
		worst, at := worstSingle(float32(math.Inf(1)), 1009, applied(Tanh), math.Tanh)
		t.Logf("%v: %.3f units at %v", p, worst, at)
		require.LessOrEqual(t, worst, 3.0, "%v: at %v", p, at)
	}
}

func TestTanhDoubleIsWithinThreeUnits(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 1))
	x := []float64{0, 1, -1, 1e-300, 19, 22, 25, 300, -300}
	for range 2000 {
		x = append(x, r.NormFloat64(), (r.Float64()-0.5)*44, r.NormFloat64()*math.Exp2(-20*r.Float64()))
	}
	exact := make([]*big.Float, len(x))
	one := big.NewFloat(1).SetPrec(200)
	for i, v := range x { // (e^2x − 1)/(e^2x + 1)
		e := exactExp(2 * v)
		exact[i] = new(big.Float).Quo(new(big.Float).Sub(e, one), new(big.Float).Add(e, one))
		if math.Abs(v) < 1e-100 {
			exact[i].SetFloat64(v) // too small for the digits here
		}
	}
	for _, p := range paths() {
		onPath(t, p)
		y, worst, at := make([]float64, len(x)), 0.0, 0.0
		Apply(Tanh, Settings{}, y, x)
		for i, v := range x {
			if off := exactUnitsOff(y[i], exact[i]); !(off <= worst) {
				worst, at = off, v
			}
		}
		t.Logf("%v: %.3f units at %v", p, worst, at)
		require.LessOrEqual(t, worst, 3.0, "%v: at %v", p, at)
	}
}

func testTanhSpecial[F Float](t *testing.T, p simd.Set) {
	inf, negative := math.Inf(1), math.Copysign(0, -1)
	x := []F{F(inf), F(-inf), F(math.NaN()), 0, F(negative), 1e30, -1e30}
	y := make([]F, len(x))
	Apply(Tanh, Settings{}, y, x)
	for i, want := range []float64{1, -1, math.NaN(), 0, negative, 1, -1} {
		got := float64(y[i])
		same := got != got && want != want || math.Float64bits(got) == math.Float64bits(want)
		require.True(t, same, "%v: tanh %v: got %v, want %v", p, x[i], got, want)
	}
}

func TestTanhOfSpecialNumbers(t *testing.T) {
	for _, p := range paths() {
		onPath(t, p)
		testTanhSpecial[float32](t, p)
		testTanhSpecial[float64](t, p)
	}
}

// geluForms are the two forms of GELU with their slopes, from the functions of package math.
var geluForms = map[string]struct{ value, slope func(x float64) float64 }{
	"tanh": {
		value: func(x float64) float64 { return 0.5 * x * (1 + math.Tanh(geluInner(x))) },
		slope: func(x float64) float64 {
			u := geluInner(x)
			h := 1 / math.Cosh(u)
			return 0.5*(1+math.Tanh(u)) + 0.5*x*h*h*math.Sqrt(2/math.Pi)*(1+3*0.044715*x*x)
		},
	},
	"erf": {
		value: func(x float64) float64 { return 0.5 * x * (1 + math.Erf(x/math.Sqrt2)) },
		slope: func(x float64) float64 {
			return 0.5*(1+math.Erf(x/math.Sqrt2)) + x*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi)
		},
	},
}

func geluInner(x float64) float64 { return math.Sqrt(2/math.Pi) * (x + 0.044715*x*x*x) }

// testGELU allows a few roundings of the largest term: 1 or |x| for the value, and |dy| for the gradient. The error of
// e^−u is a few roundings of u, which is large only where the term that contains it is small.
func testGELU[F Float](t *testing.T, p simd.Set, eps float64) {
	r := rand.New(rand.NewPCG(23, 1))
	x := []F{0, 1, -1, 30, -30, 100, -100, 1e20, -1e20}
	for range 20000 {
		x = append(x, F(r.NormFloat64()*3))
	}
	dy := normals[F](r, len(x))
	for name, form := range geluForms {
		y, dx := make([]F, len(x)), make([]F, len(x))
		if name == "tanh" {
			Apply(GELUTanh, Settings{}, y, x)
			Slope(GELUTanh, Settings{}, dx, x, dy)
		} else {
			Apply(GELU, Settings{}, y, x)
			Slope(GELU, Settings{}, dx, x, dy)
		}
		worst, worstSlope := 0.0, 0.0
		for i, v := range x {
			size := max(1, math.Abs(float64(v)))
			want, slope := form.value(float64(v)), form.slope(max(-50, min(float64(v), 50)))
			worst = max(worst, math.Abs(float64(y[i])-want)/(eps*size))
			worstSlope = max(worstSlope, math.Abs(float64(dx[i])-float64(dy[i])*slope)/(eps*max(1, math.Abs(float64(dy[i])))))
		}
		t.Logf("%v %s: %.2f and %.2f roundings", p, name, worst, worstSlope)
		require.LessOrEqual(t, worst, 4.0, "%v %s", p, name)
		require.LessOrEqual(t, worstSlope, 6.0, "%v %s", p, name)
	}
}

func TestGELUEqualsItsFormula(t *testing.T) {
	for _, p := range paths() {
		onPath(t, p)
		testGELU[float32](t, p, 0x1p-24)
		testGELU[float64](t, p, 0x1p-53)
	}
}

func TestGELUOfSpecialNumbers(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, p := range paths() {
		onPath(t, p)
		x, y, dx := []float32{inf, nan, 0}, make([]float32, 3), make([]float32, 3)
		Apply(GELUTanh, Settings{}, y, x)
		require.Equal(t, []string{"+Inf", "NaN", "finite"}, []string{kind(y[0]), kind(y[1]), kind(y[2])})
		Slope(GELUTanh, Settings{}, dx, append(x[:2:2], -inf), []float32{1, 1, 1})
		require.Equal(t, []any{float32(1), "NaN"}, []any{dx[0], kind(dx[1])})
		require.InDelta(t, 0, dx[2], 1e-20) // the slope at −9
		Apply(GELU, Settings{}, y, x)
		require.Equal(t, []string{"+Inf", "NaN", "finite"}, []string{kind(y[0]), kind(y[1]), kind(y[2])})
		Slope(GELU, Settings{}, dx, append(x[:2:2], -inf), []float32{1, 1, 1})
		require.Equal(t, []any{float32(1), "NaN", float32(0)}, []any{dx[0], kind(dx[1]), dx[2]})
	}
}

// testSoftcapFormula allows a few roundings of the result and, for the slope, of 1.
func testSoftcapFormula[F Float](t *testing.T, p simd.Set, eps float64) {
	r := rand.New(rand.NewPCG(72, 1))
	for _, limit := range []float64{0.3, 1, 30} {
		x := []F{0, 1e-20, F(limit), 1e4, -1e4, 1e30, -1e30}
		for range 3000 {
			x = append(x, F(r.NormFloat64()*limit*3))
		}
		dy := normals[F](r, len(x))
		y, dx := make([]F, len(x)), make([]F, len(x))
		Apply(Softcap, Settings{limit}, y, x)
		Slope(Softcap, Settings{limit}, dx, y, dy)
		for i, v := range x {
			want, slope := limit*math.Tanh(float64(v)/limit), math.Pow(math.Cosh(float64(v)/limit), -2)
			require.InDelta(t, want, float64(y[i]), 10*eps*math.Abs(want)+1e-37, "%v: softcap %v of %v", p, limit, v)
			d := float64(dy[i])
			require.InDelta(t, d*slope, float64(dx[i]), 16*eps*math.Abs(d), "%v: slope of softcap %v at %v", p, limit, v)
		}
	}
}

func TestSoftcapEqualsItsFormula(t *testing.T) {
	for _, p := range paths() {
		onPath(t, p)
		testSoftcapFormula[float32](t, p, 0x1p-24)
		testSoftcapFormula[float64](t, p, 0x1p-53)
	}
}
