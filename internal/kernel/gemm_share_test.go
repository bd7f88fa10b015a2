package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"attention/internal/simd"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
)

// sameBits reports whether two slices are equal bit for bit, NaNs included.
//
//go:norace
func sameBits[F Float](x, y []F) bool {
	for i := range x {
		if math.Float64bits(float64(x[i])) != math.Float64bits(float64(y[i])) {
			return false
		}
	}
	return len(x) == len(y)
}

// bitShapes are large enough to be divided among goroutines, on every method.
var bitShapes = []struct{ batch, m, n, k int }{
	{batch: 1, m: 391, n: 77, k: 261},
	{batch: 1, m: 391, n: 1061, k: 261}, // several groups of copied panels
	{batch: 1, m: 37, n: 531, k: 270},
	{batch: 1, m: 531, n: 35, k: 259},
	{batch: 10, m: 97, n: 65, k: 300},
	{batch: 1, m: 1, n: 2053, k: 531},
	{batch: 1, m: 2053, n: 1, k: 531},
	{batch: 1, m: 100, n: 512, k: 512},
}

func testProcs[F Float](t *testing.T, p simd.Set) {
	skipPlainGo(t, p)
	r := rand.New(rand.NewPCG(3, 4))
	for _, s := range bitShapes {
		for _, transA := range bothWays {
			for _, transB := range bothWays {
				x := newProblem[F](r, s.batch, transA, transB, s.m, s.n, s.k, 0.75, 1.25, 0)
				start := append([]F(nil), x.c.data...)
				var want []F
				for _, procs := range []int{1, 2, 5} {
					testenv.SetProcs(t, procs)
					copy(x.c.data, start)
					x.run()
					if want == nil {
						want = append(want, x.c.data...)
					}
					if !sameBits(want, x.c.data) {
						t.Fatalf("%v: other bits with %d goroutines than with 1", x, procs)
					}
				}
			}
		}
	}
}

func TestGemmBitsDoNotDependOnGoroutines(t *testing.T) {
	onPaths(t, testProcs[float32], testProcs[float64])
}

// A matrix of a batch, and a row or column of a larger product, must have the bits that it has alone if both are
// computed by tiles: this is why a cache of keys gives the results of the whole sequence.
func TestGemmBitsDoNotDependOnNeighbours(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, p := range paths() {
		onPath(t, p)
		x := newProblem[float32](r, 1, false, false, 61, 83, 401, 1, 0, 0)
		x.run()
		for _, part := range []struct{ i, j, m, n int }{
			{i: 7, j: 0, m: 2, n: 83}, {i: 60, j: 0, m: 1, n: 83}, {i: 13, j: 5, m: 40, n: 33}, {i: 0, j: 81, m: 61, n: 2},
		} {
			a, b, c := x.a.data[part.i*x.a.ld:], x.b.data[part.j:], make([]float32, part.m*part.n)
			Product[float32]{M: part.m, N: part.n, K: x.k, Alpha: 1, A: Rows(a, x.a.ld), B: Rows(b, x.b.ld),
				C: Rows(c, part.n)}.Compute()
			for i := range part.m {
				if !sameBits(c[i*part.n:][:part.n], x.c.data[(part.i+i)*x.c.ld+part.j:][:part.n]) {
					t.Fatalf("%v: row %d of part %+v has other bits alone", p, i, part)
				}
			}
		}
	}
}

// Heads that are side by side in (B,T,H,D) memory are multiplied in place, with two query heads per key head.
func TestGemmStridedHeads(t *testing.T) {
	const B, T, S, K, G, D = 2, 3, 5, 2, 2, 7
	const H = K * G
	r := rand.New(rand.NewPCG(9, 10))
	q, k := normals[float64](r, B*T*H*D), normals[float64](r, B*S*K*D)
	scores := make([]float64, B*H*T*S)
	for i := range B * K {
		b, group := i/K, i%K
		q, k := q[b*T*H*D+group*G*D:], k[b*S*K*D+group*D:]
		Product[float64]{M: T, N: S, K: D, Alpha: 1, A: Rows(q, H*D).Every(D), B: Transposed(k, K*D),
			C: Rows(scores[i*G*T*S:], S).Every(T * S), Batch: G}.Compute()
	}
	for b := range B {
		for h := range H {
			for i := range T {
				for j := range S {
					want := 0.0
					for d := range D {
						want += q[((b*T+i)*H+h)*D+d] * k[((b*S+j)*K+h/G)*D+d]
					}
					// The errors of both sums of seven products of size about 1 are within 7 roundings.
					if got := scores[((b*H+h)*T+i)*S+j]; math.Abs(got-want) > 1e-14 {
						t.Fatalf("score (%d,%d,%d,%d) = %v, want %v", b, h, i, j, got, want)
					}
				}
			}
		}
	}
}

func TestGemmAllocatesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, procs := range []int{1, 2} {
		testenv.SetProcs(t, procs)
		for _, p := range paths() {
			onPath(t, p)
			for _, s := range []struct{ batch, m, n, k int }{
				{batch: 1, m: 3, n: 5, k: 7},
				{batch: 1, m: 1, n: 400, k: 300},
				{batch: 1, m: 400, n: 1, k: 300},
				{batch: 6, m: 65, n: 70, k: 50},
				{batch: 1, m: 395, n: 61, k: 49},
			} {
				for _, transB := range bothWays {
					x := newProblem[float32](r, s.batch, false, transB, s.m, s.n, s.k, 1, 0, 0)
					testenv.NoAllocations(t, fmt.Sprintf("%v on %d: %v", p, procs, x), x.run)
				}
			}
		}
	}
}

// TestGemmSymmetric compares bits with those of the general product, for products of a matrix with its transpose and of
// a symmetric one with itself, on one processor and on several. Memory behind the rows is unchanged.
func TestGemmSymmetric(t *testing.T) {
	onPaths(t, testSymmetric[float32], testSymmetric[float64])
}

func testSymmetric[F Float](t *testing.T, p simd.Set) {
	skipPlainGo(t, p)
	r := rand.New(rand.NewPCG(5, 6))
	for _, procs := range []int{1, 3} {
		testenv.SetProcs(t, procs)
		for _, s := range []struct{ n, k int }{
			{1, 7}, {3, 1}, {16, 16}, {33, 20}, {64, 64}, {97, 300}, {128, 344}, {261, 70},
		} {
			for _, trans := range bothWays {
				x := normals[F](r, s.n*s.k)
				ld, k := s.k, s.k
				if trans {
					ld = s.n
				}
				gram := make([]F, s.n*s.n)
				g := Product[F]{M: s.n, N: s.n, K: k, Alpha: 1, A: Rows(x, ld).Op(trans), B: Rows(x, ld).Op(!trans), C: Rows(gram, s.n)}
				g.Compute()
				got := normals[F](r, s.n*s.n)
				g.C, g.symmetric = Rows(got, s.n), true
				g.Compute()
				require.True(t, sameBits(gram, got), "%v, transposed %v", s, trans)

				wide := s.n + 3
				start := normals[F](r, s.n*wide)
				for i := range s.n {
					for j := range i {
						start[i*wide+j] = start[j*wide+i]
					}
				}
				want := slices.Clone(start)
				g = Product[F]{M: s.n, N: s.n, K: s.n, Alpha: 2, A: g.C, B: g.C, Beta: -3, C: Rows(want, wide)}
				g.Compute()
				g.C, g.symmetric = Rows(start, wide), true
				g.Compute()
				require.True(t, sameBits(want, start), "%v with itself", s)
			}
		}
	}
}
