package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"attention/internal/simd"

	"github.com/stretchr/testify/require"
)

// exactSigmoid is exact on both sides: below 0 it is e^x/(1 + e^x).
func exactSigmoid(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

// testSigmoid allows roundings of the values themselves: a sigmoid far below 0 has full precision. A slope is of order
// 1, but the rounding error of 1−s in it is multiplied by x, until 1−s is 0.
func testSigmoid[F Float](t *testing.T, p simd.Set, eps float64) {
	r := rand.New(rand.NewPCG(71, 1))
	x := []F{0, 1, -1, 30, -30, 80, -80, 1e4, -1e4, 1e30, -1e30}
	for range 3000 { // several chunks
		x = append(x, F(r.NormFloat64()*10))
	}
	up, dy := normals[F](r, len(x)), normals[F](r, len(x))
	n := len(x)
	s, y, z := make([]F, n), make([]F, n), make([]F, n)
	ds, dx, dgate, dup := make([]F, n), make([]F, n), make([]F, n), make([]F, n)
	Apply(Sigmoid, Settings{}, s, x)
	Slope(Sigmoid, Settings{}, ds, s, dy)
	Apply(SiLU, Settings{}, y, x)
	Slope(SiLU, Settings{}, dx, x, dy)
	Gated(SiLU, z, x, up)
	GatedBackward(SiLU, dgate, dup, x, up, dy)
	near := func(what string, i int, want, got, size, roundings float64) {
		require.InDelta(t, want, got, roundings*eps*size+1e-37, "%v: %s at %v", p, what, x[i])
	}
	for i := range x {
		v, u, d := float64(x[i]), float64(up[i]), float64(dy[i])
		sig := exactSigmoid(v)
		slope, order := sig+v*sig*exactSigmoid(-v), math.Abs(d)*(1+min(math.Abs(v), 37))
		near("sigmoid", i, sig, float64(s[i]), sig, 4)
		near("silu", i, v*sig, float64(y[i]), math.Abs(v*sig), 6)
		near("swiglu", i, v*sig*u, float64(z[i]), math.Abs(v*sig*u), 8)
		near("sigmoid's slope", i, d*sig*exactSigmoid(-v), float64(ds[i]), math.Abs(d), 4)
		near("silu's slope", i, d*slope, float64(dx[i]), order, 3)
		near("swiglu's slope by gate", i, d*u*slope, float64(dgate[i]), order*math.Abs(u), 3)
		near("swiglu's slope by up", i, d*v*sig, float64(dup[i]), math.Abs(d*v*sig), 8)
	}
}

func TestSigmoidsEqualTheirFormulas(t *testing.T) {
	for _, p := range paths() {
		onPath(t, p)
		testSigmoid[float32](t, p, 0x1p-24)
		testSigmoid[float64](t, p, 0x1p-53)
	}
}
