package kernel

import (
	"math/rand/v2"
	"testing"
)

// testGemvGuarded puts matrix and vectors between pages that nobody may touch.
func testGemvGuarded[F Float](t *testing.T, p path) {
	r := rand.New(rand.NewPCG(27, uint64(p)))
	for _, n := range []int{1, 3, 7, 8, 9, 15, 16, 17, 33} {
		for _, m := range []int{1, 2, 3, 5, 8, 15, 17} {
			for i, trans := range bothWays {
				x := newVectorProblem[F](r, trans, m, n, i, 1, -0.5)
				x.a, x.x, x.y = guarded(t, x.a, n%2 > 0), guarded(t, x.x, n%2 > 0), guarded(t, x.y, n%2 > 0)
				Gemv(trans, m, n, x.alpha, x.a, x.lda, x.x, x.beta, x.y)
				u, v := x.y, x.x
				if trans {
					u, v = v, u
				}
				Ger(x.alpha, u, v, x.a, x.lda)
			}
		}
	}
}

func TestGemvStaysInsideItsSlices(t *testing.T) {
	onPaths(t, testGemvGuarded[float32], testGemvGuarded[float64])
}
