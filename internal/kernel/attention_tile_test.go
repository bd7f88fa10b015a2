package kernel

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"attention/internal/simd"

	"github.com/stretchr/testify/assert"
)

// TestAttentionSoftcap compares with tanh in higher precision, for scores near 0 and far from it.
func TestAttentionSoftcap(t *testing.T) {
	for _, p := range paths() {
		onPath(t, p)
		testSoftcap[float32](t, p, 4*0x1p-24)
		testSoftcap[float64](t, p, 4*0x1p-53)
	}
}

func testSoftcap[F Float](t *testing.T, p simd.Set, tolerance float64) {
	for _, c := range []F{1, 30, 1e-3, 1e6} {
		var x, start, slope [64]F
		for i := range x {
			x[i] = c * F(math.Ldexp(1-2*float64(i%2), i/2-26)) * 1.1
			if i > 58 {
				x[i] = []F{0, F(math.Copysign(0, -1)), F(math.Inf(1)), simd.NegInf[F](), F(math.NaN())}[i-59]
			}
			start[i] = x[i]
		}
		simd.CapRows(2, 32, x[:], 32, slope[:], c)
		for i, v := range start {
			want := math.Tanh(float64(v) / float64(c))
			if math.IsNaN(want) {
				assert.True(t, x[i] != x[i] && slope[i] != slope[i], "%v: %v", p, v)
				continue
			}
			assert.InDelta(t, want, float64(x[i])/float64(c), tolerance*math.Abs(want), "%v: %v", p, v)
			assert.Equal(t, math.Signbit(want), math.Signbit(float64(x[i])), "%v: %v", p, v)
			assert.InDelta(t, 1-want*want, float64(slope[i]), 2*tolerance, "%v: %v", p, v)
		}
	}
}

// TestAttentionDrop drops the same elements from tiles of any width as Dropout, on every path; non-finite elements
// become NaN.
func TestAttentionDrop(t *testing.T) {
	for _, p := range paths() {
		onPath(t, p)
		for n := 1; n <= keyBlock; n += 7 {
			testDrop[float32](t, p, n)
			testDrop[float64](t, p, n)
		}
	}
}

func testDrop[F Float](t *testing.T, p simd.Set, n int) {
	const rows, ld, below = 3, keyBlock, 1 << 63
	var x [rows * ld]F
	special := []F{1, -2, F(math.NaN()), F(math.Inf(1)), F(math.Inf(-1)), 0}
	for i := range x {
		x[i] = special[i%len(special)]
	}
	want, got := x, x
	for i := range rows {
		for j := range n {
			keep := F(2)
			if simd.Mix(uint64(5+100*i+3*j)) < below {
				keep = 0
			}
			want[i*ld+j] = want[i*ld+j]*keep + 0
		}
	}
	simd.DropRows(rows, n, got[:], ld, 5, 3, 100, below, 2)
	for i := range rows {
		for j, v := range got[i*ld:][:n] {
			w := want[i*ld+j]
			assert.True(t, v == w && math.Signbit(float64(v)) == math.Signbit(float64(w)) || v != v && w != w,
				"%v, %T, row %d of %d, column %d: %v, want %v", p, v, i, n, j, v, w)
		}
	}
}

// expErrors returns the largest error of e^x in units of the last place over numbers from 0 down to where results
// are no longer normal.
func expErrors[F Float](p simd.Set, least float64, bits int) float64 {
	const n = 64
	worst := 0.
	for i := range 60 {
		var x, shift, sum, want [n]F
		for j := range x {
			x[j] = F(least * float64(i*n+j) / (60 * n) * (1 - 1e-3*float64(j%7)))
			want[j] = x[j]
		}
		simd.ExpColumns(1, n, x[:], n, shift[:], sum[:])
		for j, got := range x {
			exact := exactExp(float64(want[j]))
			unit := math.Ldexp(1, exact.MantExp(nil)-bits)
			diff := new(big.Float).Sub(big.NewFloat(float64(got)), exact)
			e, _ := diff.Float64()
			worst = max(worst, math.Abs(e)/unit)
			if sum[j] != got {
				return math.Inf(1)
			}
		}
	}
	return worst
}

func TestAttentionExp(t *testing.T) {
	for _, p := range paths() {
		onPath(t, p)
		single, double := expErrors[float32](p, -87.3, 24), expErrors[float64](p, -708.3, 53)
		t.Logf("%v: %.3f and %.3f units", p, single, double)
		assert.LessOrEqual(t, single, 1., "%v", p)
		most := 1.
		if p == simd.Go {
			most = 2 // the error of math.Exp is larger than that of the polynomials
		}
		assert.LessOrEqual(t, double, most, "%v", p)
		for _, row := range []struct{ x, want float64 }{
			{x: 0, want: 1},
			{x: math.Inf(-1), want: 0},
			{x: -1e30, want: 0},
			{x: -800, want: 0},
			{x: math.NaN(), want: math.NaN()},
		} {
			testExpOf[float32](t, p, row.x, row.want)
			testExpOf[float64](t, p, row.x, row.want)
		}
	}
}

func testExpOf[F Float](t *testing.T, p simd.Set, x, want float64) {
	var v, shift, sum [16]F
	for i := range v {
		v[i] = F(x)
	}
	simd.ExpColumns(1, 16, v[:], 16, shift[:], sum[:])
	for _, got := range v {
		if math.IsNaN(want) {
			assert.True(t, got != got, "%v: exp(%v)", p, x)
		} else {
			assert.Equal(t, F(want), got, "%v: exp(%v)", p, x)
		}
	}
}

// TestAttentionRows compares the kernels for rows with plain Go, and rowDots with dot: the bits are the same.
func TestAttentionRows(t *testing.T) { onPaths(t, testRows[float32], testRows[float64]) }

func testRows[F Float](t *testing.T, p simd.Set) {
	r := rand.New(rand.NewPCG(3, 4))
	columns := make([]F, keyBlock)
	for j := range columns {
		columns[j] = F(j)
	}
	for _, n := range []int{1, 3, 4, 15, 16, 17, 31, 32, 33, 64, 100} {
		const rows, ld = 7, keyBlock
		x := normals[F](r, rows*ld)
		lo, hi := make([]F, rows), make([]F, rows)
		for i := range rows {
			lo[i], hi[i] = F(r.IntN(n+1)), F(r.IntN(n+1))
		}
		got, want := slices.Clone(x), slices.Clone(x)
		simd.ClearRows(rows, n, got, ld, columns, lo, hi)
		inGo(func() any {
			simd.ClearRows(rows, n, want, ld, columns, lo, hi)
			return nil
		})
		for i := range rows {
			assert.Equal(t, want[i*ld:][:n], got[i*ld:][:n], "%v: clearRows of %d columns", p, n)
		}

		y := x[:rows*n]
		got, want = make([]F, rows*ld), make([]F, rows*ld)
		simd.ScaleRows(rows, n, got, ld, y, lo)
		inGo(func() any {
			simd.ScaleRows(rows, n, want, ld, y, lo)
			return nil
		})
		assert.Equal(t, want, got, "%v: scaleRows of %d columns", p, n)

		other, dots, one := normals[F](r, rows*(n+2)), make([]F, rows), make([]F, 1)
		simd.RowDots(n, x, ld, other, n+2, dots)
		for i := range rows {
			simd.Dot(x[i*ld:], 0, other[i*(n+2):][:n], one)
			assert.Equal(t, one[0], dots[i], "%v: rowDots of %d columns", p, n)
		}
	}
}
