package kernel

import (
	"math/rand/v2"
	"testing"

	"attention/internal/simd"
)

// testVectorGuarded puts every argument between inaccessible pages.
func testVectorGuarded[F Float](t *testing.T, p simd.Set) {
	r := rand.New(rand.NewPCG(35, uint64(p)))
	for _, cols := range []int{1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65} {
		for rows := 1; rows <= 3; rows += 2 {
			for _, c := range vectorCases[F](rows, cols) {
				for _, flushEnd := range []bool{false, true} {
					a := c.arguments(r, func(n int) []F { return guarded(t, make([]F, n), flushEnd) })
					c.run(a)
				}
			}
		}
	}
}

func TestVectorStaysInsideItsSlices(t *testing.T) {
	onPaths(t, testVectorGuarded[float32], testVectorGuarded[float64])
}

// testRowKernelsGuarded puts each argument between inaccessible pages.
func testRowKernelsGuarded[F Float](t *testing.T, p simd.Set) {
	calls := 0
	testRowKernels(t, p, func(x []F) []F {
		calls++
		return guarded(t, x, calls%5 < 3) // each argument at either end of the memory
	})
}

func TestRowKernelsStayInsideTheirSlices(t *testing.T) {
	onPaths(t, testRowKernelsGuarded[float32], testRowKernelsGuarded[float64])
}
