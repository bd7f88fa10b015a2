package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"attention/internal/simd"
)

// NaN and ±Inf propagate through products as IEEE 754 says, even when they are multiplied by zeros; α = 0 and β = 0 are
// the exceptions that Product's comment names.
func TestGemmSpecialValues(t *testing.T) {
	onPaths(t, testSpecialProducts[float32], testSpecialProducts[float64])
	onPaths(t, testSpecialFactors[float32], testSpecialFactors[float64])
}

// kind classifies a value without its size.
func kind[F Float](v F) string {
	switch x := float64(v); {
	case x != x:
		return "NaN"
	case math.IsInf(x, 1):
		return "+Inf"
	case math.IsInf(x, -1):
		return "-Inf"
	}
	return "finite"
}

func testSpecialProducts[F Float](t *testing.T, p simd.Set) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, shape := range [][3]int{{1, 1, 1}, {3, 5, 7}, {29, 37, 19}, {1, 40, 40}, {40, 1, 40}, {13, 33, 300}} {
		for way := range 4 {
			for _, special := range []F{F(math.NaN()), F(math.Inf(1)), F(math.Inf(-1))} {
				for _, other := range []F{0, 1, -1} {
					transA, transB := bothWays[way/2], bothWays[way%2]
					x := newProblem[F](r, 1, transA, transB, shape[0], shape[1], shape[2], 1, 0, 0)
					i, j, q := r.IntN(x.m), r.IntN(x.n), r.IntN(x.k)
					x.a.data[x.a.at(0, i, q)] = special
					x.b.data[x.b.at(0, q, j)] = other
					x.run()
					if got, want := kind(x.c.data[x.c.at(0, i, j)]), kind(special*other); got != want {
						t.Fatalf("%v: %v·%v gave %s, want %s", x, special, other, got, want)
					}
					for at := range x.m * x.n {
						if row := at / x.n; row != i && kind(x.c.data[x.c.at(0, row, at%x.n)]) != "finite" {
							t.Fatalf("%v: %v in row %d reached row %d", x, special, i, row)
						}
					}
				}
			}
		}
	}
}

func testSpecialFactors[F Float](t *testing.T, p simd.Set) {
	nan := F(math.NaN())
	for _, row := range []struct {
		reason      string
		alpha, beta F
		a           F
		c, want     [2]F
	}{
		{
			reason: "NaN as beta reaches every element",
			alpha:  1, beta: nan, a: 1, c: [2]F{1, 2}, want: [2]F{nan, nan},
		},
		{
			reason: "alpha = 0 does not read A, but beta does read C",
			alpha:  0, beta: 2, a: nan, c: [2]F{nan, 2}, want: [2]F{nan, 4},
		},
		{
			reason: "beta = 0 does not read C",
			alpha:  1, beta: 0, a: 3, c: [2]F{nan, 2}, want: [2]F{15, 21},
		},
		{
			reason: "beta = -0 does not read C",
			alpha:  1, beta: F(math.Copysign(0, -1)), a: 3, c: [2]F{nan, 2}, want: [2]F{15, 21},
		},
	} {
		wide, tall := row.c, row.c
		a, b := Rows([]F{row.a}, 1), Rows([]F{5, 7}, 2)
		Product[F]{M: 1, N: 2, K: 1, Alpha: row.alpha, A: a, B: b, Beta: row.beta, C: Rows(wide[:], 2)}.Compute()
		Product[F]{M: 2, N: 1, K: 1, Alpha: row.alpha, A: b.T(), B: a, Beta: row.beta, C: Rows(tall[:], 1)}.Compute()
		for i, want := range row.want {
			for _, got := range []F{wide[i], tall[i]} {
				if got != want && (got == got || want == want) {
					t.Errorf("%v: %s: got %v and %v, want %v", p, row.reason, wide, tall, row.want)
				}
			}
		}
	}
}
