package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"attention/internal/simd"

	"github.com/stretchr/testify/require"
)

// plainNorm is LayerNorm of one row in float64.
func plainNorm(x, gamma, beta []float64, eps float64) (y []float64, mean, rstd float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	variance := 0.0
	for _, v := range x {
		variance += (v - mean) * (v - mean) / n
	}
	rstd = 1 / math.Sqrt(variance+eps)
	for i, v := range x {
		y = append(y, (v-mean)*rstd*gamma[i]+beta[i])
	}
	return y, mean, rstd
}

// wide returns x in float64.
func wide[F Float](x []F) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// testNorm compares with float64. The sums of cols terms have errors of a few roundings of their size, and a mean of 10
// with deviations of 1 multiplies the error by 10.
func testNorm[F Float](t *testing.T, roundings float64) {
	r := rand.New(rand.NewPCG(51, 1))
	for _, s := range [][2]int{{1, 2}, {3, 7}, {5, 64}, {4, 769}, {301, 130}} {
		rows, cols := s[0], s[1]
		x, gamma, beta := normals[F](r, rows*cols), normals[F](r, cols), normals[F](r, cols)
		for i := range x {
			x[i] += 10
		}
		y, mean, rstd := make([]F, rows*cols), make([]F, rows), make([]F, rows)
		LayerNorm(y, mean, rstd, x, gamma, beta, cols, 1e-2)
		for i := range rows {
			want, m, s := plainNorm(wide(x[i*cols:][:cols]), wide(gamma), wide(beta), 1e-2)
			require.InDelta(t, m, float64(mean[i]), 10*roundings*float64(cols+2))
			require.InDelta(t, s, float64(rstd[i]), 100*roundings*s)
			for j, w := range want {
				require.InDelta(t, w, float64(y[i*cols+j]), 1000*roundings, "row %d, column %d of %v", i, j, s)
			}
		}
	}
}

func TestLayerNormEqualsItsFormula(t *testing.T) {
	for _, p := range paths() {
		onPath(t, p)
		testNorm[float32](t, 0x1p-24)
		testNorm[float64](t, 0x1p-53)
	}
}

// The gradients of Σ dy⊙y are those of central differences: with steps of 1e-5, their error is about 1e-10.
func TestLayerNormBackwardEqualsDifferences(t *testing.T) {
	const rows, cols, step = 3, 11, 1e-5
	r := rand.New(rand.NewPCG(52, 1))
	for _, p := range paths() {
		onPath(t, p)
		x, dy := normals[float64](r, rows*cols), normals[float64](r, rows*cols)
		gamma, beta := normals[float64](r, cols), normals[float64](r, cols)
		y, mean, rstd := make([]float64, rows*cols), make([]float64, rows), make([]float64, rows)
		loss := func() (sum float64) {
			LayerNorm(y, mean, rstd, x, gamma, beta, cols, 1e-2)
			for i, v := range y {
				sum += v * dy[i]
			}
			return sum
		}
		loss()
		dx, dgamma, dbeta := make([]float64, rows*cols), make([]float64, cols), make([]float64, cols)
		LayerNormBackward(dx, dgamma, dbeta, dy, x, gamma, mean, rstd, cols)
		for _, c := range []struct {
			name string
			v, d []float64
		}{{name: "x", v: x, d: dx}, {name: "gamma", v: gamma, d: dgamma}, {name: "beta", v: beta, d: dbeta}} {
			for i, v := range c.v {
				c.v[i] = v + step
				above := loss()
				c.v[i] = v - step
				below := loss()
				c.v[i] = v
				require.InDelta(t, (above-below)/(2*step), c.d[i], 1e-8, "%v: d%s[%d]", p, c.name, i)
			}
		}
	}
}

func TestLayerNormNaNStaysInItsRow(t *testing.T) {
	for _, p := range paths() {
		onPath(t, p)
		const cols = 19
		x := make([]float32, 2*cols)
		for i := range x {
			x[i] = float32(i % 5)
		}
		x[3] = float32(math.NaN())
		y, mean, rstd, dx := make([]float32, 2*cols), make([]float32, 2), make([]float32, 2), make([]float32, 2*cols)
		LayerNorm(y, mean, rstd, x, nil, nil, cols, 1e-5)
		LayerNormBackward(dx, nil, nil, x, x, nil, mean, rstd, cols)
		for i := range y {
			require.Equal(t, i < cols, y[i] != y[i], "%v: y[%d]", p, i)
			require.Equal(t, i < cols, dx[i] != dx[i], "%v: dx[%d]", p, i)
		}
	}
}

// The sums of many rows, done in several shares, are those of the formula.
func TestLayerNormBackwardSumsAllRows(t *testing.T) {
	const rows, cols = 301, 130
	require.Greater(t, normShares(rows, cols), 2)
	r := rand.New(rand.NewPCG(53, 1))
	for _, p := range paths() {
		onPath(t, p)
		x, dy, gamma := normals[float64](r, rows*cols), normals[float64](r, rows*cols), normals[float64](r, cols)
		y, mean, rstd := make([]float64, rows*cols), make([]float64, rows), make([]float64, rows)
		LayerNorm(y, mean, rstd, x, gamma, nil, cols, 1e-2)
		wantGamma, wantBeta := make([]float64, cols), make([]float64, cols)
		for i, v := range dy {
			wantGamma[i%cols] += v * (x[i] - mean[i/cols]) * rstd[i/cols]
			wantBeta[i%cols] += v
		}
		wantX := make([]float64, rows*cols)
		inGo(func() any {
			simd.NormBackwardRows(rows, cols, wantX, dy, x, gamma, mean, rstd)
			return nil
		})
		dx, dgamma, dbeta := make([]float64, rows*cols), make([]float64, cols), make([]float64, cols)
		for _, wants := range [][3]bool{
			{true, true, true}, {true, true, false}, {true, false, true}, {false, true, false}, {true, false, false},
		} {
			out := [3][]float64{dx, dgamma, dbeta}
			for i, wanted := range wants {
				clear(out[i])
				if !wanted {
					out[i] = nil
				}
			}
			LayerNormBackward(out[0], out[1], out[2], dy, x, gamma, mean, rstd, cols)
			for i, want := range [3][]float64{wantX, wantGamma, wantBeta} {
				if wants[i] {
					require.InDeltaSlice(t, want, out[i], 1e-11, "%v: %v, gradient %d", p, wants, i)
				}
			}
		}
	}
}
