package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestOneRowHasTheBitsOfTiles compares products with one row, shared and not, with tiles'.
func TestOneRowHasTheBitsOfTiles(t *testing.T) {
	testOneRow[float32](t)
	testOneRow[float64](t)
}

func testOneRow[F Float](t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, s := range []struct{ n, k int }{
		{1, 1}, {2, 7}, {5, 256}, {17, 257}, {64, 600}, {385, 3}, {769, 513}, {1000, 1030}, {3072, 256},
	} {
		a, b, c := normals[F](r, 5*s.k), normals[F](r, s.k*(s.n+3)), normals[F](r, s.n)
		b[r.IntN(len(b))] = F(math.NaN())
		b[r.IntN(len(b))] = F(math.Inf(1))
		for _, p := range paths() {
			for i := range 4 {
				beta, apart := F(i%2), 1+i/2*4
				do := func(f func(g *product[F])) []F {
					out := slices.Clone(c)
					f(&product[F]{
						m: 1, n: s.n, k: s.k, alpha: 1, beta: beta,
						a: matrix[F]{a, s.k, apart}, b: view(NoTrans, b, s.n+3), c: view(NoTrans, out, s.n),
					})
					return out
				}
				want := do(func(g *product[F]) { g.tiles(p) })
				for name, f := range map[string]func(g *product[F]){
					"alone":  func(g *product[F]) { g.oneRow(p) },
					"shared": func(g *product[F]) { g.shareOneRow(p) },
				} {
					assert.True(t, sameBits(want, do(f)), "%s: n %d, k %d, path %v, beta %v", name, s.n, s.k, p, beta)
				}
			}
		}
	}
}
