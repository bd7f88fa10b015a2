package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestFewRowsHaveTheBitsOfTiles compares products with few rows, shared and not, with tiles'.
func TestFewRowsHaveTheBitsOfTiles(t *testing.T) {
	testFewRows[float32](t)
	testFewRows[float64](t)
}

func testFewRows[F Float](t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, s := range []struct{ m, n, k int }{
		{1, 1, 1}, {1, 2, 7}, {1, 5, 256}, {3, 17, 257}, {1, 64, 600}, {4, 385, 3}, {1, 769, 513}, {2, 1000, 1030},
		{1, 3072, 256}, {4, 40, 9}, {2, 900, 80},
	} {
		a, b, c := normals[F](r, 5*s.m*s.k), normals[F](r, s.k*(s.n+3)), normals[F](r, s.m*s.n)
		b[r.IntN(len(b))] = F(math.NaN())
		b[r.IntN(len(b))] = F(math.Inf(1))
		for _, p := range paths() {
			onPath(t, p)
			for i := range 4 {
				beta, apart := F(i%2), 1+i/2*4
				do := func(f func(g *Product[F])) []F {
					out := slices.Clone(c)
					f(&Product[F]{
						M: s.m, N: s.n, K: s.k, Alpha: 1, A: Matrix[F]{Data: a, Row: apart * s.k, Col: apart}, B: Rows(b, s.n+3),
						Beta: beta, C: Rows(out, s.n),
					})
					return out
				}
				want := do(func(g *Product[F]) { g.tiles() })
				for name, f := range map[string]func(g *Product[F]){
					"alone":  func(g *Product[F]) { g.along() },
					"shared": func(g *Product[F]) { g.shareAlong() },
				} {
					assert.True(t, sameBits(want, do(f)), "%s: %+v, path %v, beta %v", name, s, p, beta)
				}
			}
		}
	}
}
