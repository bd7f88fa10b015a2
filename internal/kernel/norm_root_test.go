package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"attention/internal/simd"

	"github.com/stretchr/testify/require"
)

// rootNorms are both norms, and the factor of a row by their formulas.
var rootNorms = map[string]struct {
	rule   func(eps float64) RootNorm
	factor func(x []float64, eps float64) float64
}{
	"rms": {
		rule: func(eps float64) RootNorm { return RootNorm{Eps: eps} },
		factor: func(x []float64, eps float64) float64 {
			return 1 / math.Sqrt(inGo(func() float64 { return simd.SumSquares(x) })/float64(len(x))+eps)
		},
	},
	"l2": {
		rule: func(eps float64) RootNorm { return RootNorm{ByLength: true, Eps: eps} },
		factor: func(x []float64, eps float64) float64 {
			return 1 / max(math.Sqrt(inGo(func() float64 { return simd.SumSquares(x) })), eps)
		},
	},
}

// Sizes of one share of the rows and of all sixteen, the last of which has more rows than the others.
func TestRootNormsEqualTheirFormulas(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 1))
	for name, norm := range rootNorms {
		for _, s := range [][2]int{{1, 1}, {3, 7}, {5, 64}, {4, 769}, {4001, 131}} {
			rows, cols := s[0], s[1]
			x, weight := normals[float32](r, rows*cols), normals[float32](r, cols)
			y, single := make([]float64, rows*cols), make([]float32, rows*cols)
			NormByRoot(y, wide(x), wide(weight), norm.rule(0.3))
			NormByRoot(single, x, weight, norm.rule(0.3))
			for i := range rows {
				factor := norm.factor(wide(x[i*cols:][:cols]), 0.3)
				for j := range cols {
					want := float64(x[i*cols+j]) * factor * float64(weight[j])
					// Some roundings of the product; the sum of the squares is of float64.
					size, at := 1+math.Abs(want), i*cols+j
					if !(math.Abs(y[at]-want) <= 0x1p-50*size && math.Abs(float64(single[at])-want) <= 0x1p-21*size) {
						require.Failf(t, "differs", "%s of %v: row %d, column %d: got %v and %v, want %v", name, s, i, j,
							y[at], single[at], want)
					}
				}
			}
		}
	}
}

// The gradients of Σ dy⊙y are those of central differences: with steps of 1e-5, their error is about 1e-10. One
// row of three is shorter than eps.
func TestRootNormBackwardEqualsDifferences(t *testing.T) {
	const rows, cols, step = 3, 11, 1e-5
	r := rand.New(rand.NewPCG(62, 1))
	for name, norm := range rootNorms {
		x, dy, weight := normals[float64](r, rows*cols), normals[float64](r, rows*cols), normals[float64](r, cols)
		for i := range cols {
			x[i] *= 0.01
		}
		y := make([]float64, rows*cols)
		loss := func() (sum float64) {
			NormByRoot(y, x, weight, norm.rule(0.3))
			for i, v := range y {
				sum += v * dy[i]
			}
			return sum
		}
		dx, dweight := make([]float64, rows*cols), make([]float64, cols)
		NormByRootBackward(dx, dweight, dy, x, weight, norm.rule(0.3))
		for what, c := range map[string][2][]float64{"x": {x, dx}, "weight": {weight, dweight}} {
			for i, v := range c[0] {
				c[0][i] = v + step
				above := loss()
				c[0][i] = v - step
				below := loss()
				c[0][i] = v
				require.InDelta(t, (above-below)/(2*step), c[1][i], 1e-8, "%s: d%s[%d]", name, what, i)
			}
		}
	}
}

// The gradients of many rows, in shares, are those of the rows one by one.
func TestRootNormBackwardOfManyRows(t *testing.T) {
	const rows, cols = 4001, 131
	r := rand.New(rand.NewPCG(63, 1))
	require.Equal(t, 16, normShares(rows, cols))
	x, dy, weight := normals[float64](r, rows*cols), normals[float64](r, rows*cols), normals[float64](r, cols)
	for name, norm := range rootNorms {
		dx, dweight := make([]float64, rows*cols), make([]float64, cols)
		NormByRootBackward(dx, dweight, dy, x, weight, norm.rule(0.3))
		one, sum := make([]float64, cols), make([]float64, cols)
		for i := range rows {
			part := make([]float64, cols)
			NormByRootBackward(one, part, dy[i*cols:][:cols], x[i*cols:][:cols], weight, norm.rule(0.3))
			require.Equal(t, one, dx[i*cols:][:cols], "%s: row %d", name, i)
			AddRows(sum, sum, part)
		}
		for j, want := range sum { // sums of 4001 terms of order 1
			require.InDelta(t, want, dweight[j], 1e-11, "%s: column %d", name, j)
		}
	}
}
