package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"attention/internal/simd"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
)

// closeSum reports whether a sum of count products with absolute values that sum to size is correct: within count+3
// roundings, in any order.
func closeSum[F Float](got F, want, size float64, count int) bool {
	eps := 0x1p-24
	if simd.SizeOf[F]() == 8 {
		eps = 0x1p-53
	}
	return math.Abs(float64(got)-want) <= 2*float64(count+3)*eps*size
}

// testRowKernels compares dot, weigh and addOuter with sums in float64. memory returns the memory of their arguments.
func testRowKernels[F Float](t *testing.T, p simd.Set, memory func([]F) []F) {
	r := rand.New(rand.NewPCG(21, uint64(p)))
	_, lanes := simd.TileShape[F]()
	edges := []int{1, 2, 3, 4, 7, 8, 9, 15, 17, lanes - 1, lanes, lanes + 1, 2*lanes + 3, 4 * lanes}
	for range 150 {
		m, n, padding := edges[r.IntN(len(edges))], edges[r.IntN(len(edges))], r.IntN(2)*r.IntN(9)
		ld, alpha := n+padding, []F{0, 1, -0.5}[r.IntN(3)]
		a := normals[F](r, (m-1)*ld+n)
		for i := range a {
			if i%ld >= n { // NaN between the rows would be detected
				a[i] = F(math.NaN())
			}
		}
		a = memory(a)
		x, y := memory(normals[F](r, m)), memory(normals[F](r, n))
		weighed, updated := memory(append([]F(nil), y...)), memory(append([]F(nil), a...))
		simd.Weigh(alpha, a, ld, x, weighed)
		simd.AddOuter(m, n, ld, alpha, updated, x, y)
		sums := memory(make([]F, m))
		simd.Dot(a, ld, y, sums)
		for i := range m {
			sum, size := 0.0, 0.0
			for j, v := range y {
				w := float64(v) * float64(a[i*ld+j])
				sum, size = sum+w, size+math.Abs(w)
				before, outer := float64(a[i*ld+j]), float64(alpha)*float64(x[i])*float64(v)
				require.True(t, closeSum(updated[i*ld+j], before+outer, math.Abs(before)+math.Abs(outer), 1),
					"addOuter %d×%d: (%d,%d)", m, n, i, j)
			}
			require.True(t, closeSum(sums[i], sum, size, n), "dot %d×%d: row %d", m, n, i)
		}
		for j, v := range y {
			sum, size := float64(v), math.Abs(float64(v))
			for i, u := range x {
				w := float64(alpha) * float64(u) * float64(a[i*ld+j])
				sum, size = sum+w, size+math.Abs(w)
			}
			require.True(t, closeSum(weighed[j], sum, size, m+1), "weigh %d×%d: column %d", m, n, j)
		}
		for i, v := range updated {
			require.Equal(t, a[i] != a[i], v != v, "addOuter %d×%d: wrote behind a row", m, n)
		}
	}
}

func testRowKernelsAnywhere[F Float](t *testing.T, p simd.Set) {
	testRowKernels(t, p, func(x []F) []F { return x })
}

func TestRowKernels(t *testing.T) {
	onPaths(t, testRowKernelsAnywhere[float32], testRowKernelsAnywhere[float64])
}

func testAxpy[F Float](t *testing.T, p simd.Set) {
	r := rand.New(rand.NewPCG(25, uint64(p)))
	for _, n := range []int{0, 1, 2, 3, 7, 15, 16, 17, 31, 33, 100, 1 << 17} {
		x, y := normals[F](r, n), normals[F](r, n)
		z := append([]F(nil), y...)
		Axpy(-0.5, x, z)
		for i, v := range x {
			want, size := float64(y[i])-0.5*float64(v), math.Abs(float64(y[i]))+0.5*math.Abs(float64(v))
			require.True(t, closeSum(z[i], want, size, 1), "%d: Axpy gave %v, want %v", n, z[i], want)
		}
		testenv.NoAllocations(t, "Axpy", func() { Axpy(0.5, x, z) })
	}
	nan := F(math.NaN())
	y := []F{1}
	Axpy(0, []F{nan}, y)
	require.Equal(t, []F{1}, y)
	require.PanicsWithValue(t, "kernel: axpy: slices of lengths that do not fit together",
		func() { Axpy(1, []F{1, 2}, y) })
}

func TestAxpy(t *testing.T) { onPaths(t, testAxpy[float32], testAxpy[float64]) }
