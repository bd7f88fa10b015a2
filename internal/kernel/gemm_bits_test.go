package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// sameBits tells whether two slices are equal bit for bit, NaNs included.
func sameBits[F Float](x, y []F) bool {
	for i := range x {
		if math.Float64bits(float64(x[i])) != math.Float64bits(float64(y[i])) {
			return false
		}
	}
	return len(x) == len(y)
}

// bitShapes are large enough to be divided among goroutines, on every method.
var bitShapes = []struct {
	batch   Batch
	m, n, k int
}{
	{Batch{1, 1, 1}, 391, 77, 261}, {Batch{1, 1, 1}, 37, 531, 270}, {Batch{1, 1, 1}, 531, 35, 259}, {Batch{2, 1, 5}, 97, 65, 300},
	{Batch{1, 1, 1}, 1, 2053, 531}, {Batch{1, 1, 1}, 2053, 1, 531}, {Batch{1, 1, 1}, 100, 512, 512},
}

func testProcs[F Float](t *testing.T, p path) {
	onPath(t, p)
	r := rand.New(rand.NewPCG(3, 4))
	for _, s := range bitShapes {
		for _, transA := range bothWays {
			for _, transB := range bothWays {
				x := newProblem[F](r, s.batch, transA, transB, s.m, s.n, s.k, 0.75, 1.25, 0)
				start := append([]F(nil), x.c.data...)
				var want []F
				for _, procs := range []int{1, 2, 5} {
					setProcs(t, procs)
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
	for _, p := range paths() {
		t.Run(p.String()+"/float32", func(t *testing.T) { testProcs[float32](t, p) })
		t.Run(p.String()+"/float64", func(t *testing.T) { testProcs[float64](t, p) })
	}
}

// A matrix of a batch, and a row or column of a larger product, must have the bits that they have alone when
// both are computed by tiles: then a cache of keys gives what the whole sequence gave.
func TestGemmBitsDoNotDependOnNeighbours(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, p := range paths() {
		onPath(t, p)
		x := newProblem[float32](r, Batch{1, 1, 1}, NoTrans, NoTrans, 61, 83, 401, 1, 0, 0)
		x.run()
		for _, part := range []struct{ i, j, m, n int }{{7, 0, 2, 83}, {60, 0, 1, 83}, {13, 5, 40, 33}, {0, 81, 61, 2}} {
			c := make([]float32, part.m*part.n)
			Gemm(NoTrans, NoTrans, part.m, part.n, x.k, 1, x.a.data[part.i*x.a.ld:], x.a.ld, x.b.data[part.j:], x.b.ld, 0, c, part.n)
			for i := range part.m {
				if !sameBits(c[i*part.n:][:part.n], x.c.data[(part.i+i)*x.c.ld+part.j:][:part.n]) {
					t.Fatalf("%v: row %d of part %+v has other bits alone", p, i, part)
				}
			}
		}
	}
}

// NaN and ±Inf go through products as IEEE 754 says, even when they meet zeros; α = 0 and β = 0 are the
// exceptions that Gemm's comment names.
func TestGemmSpecialValues(t *testing.T) {
	for _, p := range paths() {
		t.Run(p.String()+"/float32", func(t *testing.T) { testSpecialProducts[float32](t, p); testSpecialFactors[float32](t, p) })
		t.Run(p.String()+"/float64", func(t *testing.T) { testSpecialProducts[float64](t, p); testSpecialFactors[float64](t, p) })
	}
}

// kind is what a value is, apart from its size.
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

func testSpecialProducts[F Float](t *testing.T, p path) {
	onPath(t, p)
	r := rand.New(rand.NewPCG(7, 8))
	for _, shape := range [][3]int{{1, 1, 1}, {3, 5, 7}, {29, 37, 19}, {1, 40, 40}, {40, 1, 40}, {13, 33, 300}} {
		for way := range 4 {
			for _, special := range []F{F(math.NaN()), F(math.Inf(1)), F(math.Inf(-1))} {
				for _, other := range []F{0, 1, -1} {
					x := newProblem[F](r, Batch{1, 1, 1}, bothWays[way/2], bothWays[way%2], shape[0], shape[1], shape[2], 1, 0, 0)
					i, j, q := r.IntN(x.m), r.IntN(x.n), r.IntN(x.k)
					x.a.data[x.a.at(x.batch, 0, i, q)] = special
					x.b.data[x.b.at(x.batch, 0, q, j)] = other
					x.run()
					if got, want := kind(x.c.data[x.c.at(x.batch, 0, i, j)]), kind(special*other); got != want {
						t.Fatalf("%v: %v·%v gave %s, want %s", x, special, other, got, want)
					}
					for at := range x.m * x.n {
						if row := at / x.n; row != i && kind(x.c.data[x.c.at(x.batch, 0, row, at%x.n)]) != "finite" {
							t.Fatalf("%v: %v in row %d reached row %d", x, special, i, row)
						}
					}
				}
			}
		}
	}
}

func testSpecialFactors[F Float](t *testing.T, p path) {
	onPath(t, p)
	nan := F(math.NaN())
	for _, row := range []struct {
		why         string
		alpha, beta F
		a           F
		c, want     [2]F
	}{
		{"NaN as beta reaches every element", 1, nan, 1, [2]F{1, 2}, [2]F{nan, nan}},
		{"alpha = 0 does not read A, but beta does read C", 0, 2, nan, [2]F{nan, 2}, [2]F{nan, 4}},
		{"beta = 0 does not read C", 1, 0, 3, [2]F{nan, 2}, [2]F{15, 21}},
		{"beta = -0 does not read C", 1, F(math.Copysign(0, -1)), 3, [2]F{nan, 2}, [2]F{15, 21}},
	} {
		wide, tall := row.c, row.c
		Gemm(NoTrans, NoTrans, 1, 2, 1, row.alpha, []F{row.a}, 1, []F{5, 7}, 2, row.beta, wide[:], 2)
		Gemm(NoTrans, NoTrans, 2, 1, 1, row.alpha, []F{5, 7}, 1, []F{row.a}, 1, row.beta, tall[:], 1)
		for i, want := range row.want {
			if kind(wide[i]) != kind(want) || kind(tall[i]) != kind(want) || want == want && (wide[i] != want || tall[i] != want) {
				t.Errorf("%v: %s: got %v and %v, want %v", p, row.why, wide, tall, row.want)
			}
		}
	}
}

// Heads that lie side by side in (B,T,H,D) memory are multiplied in place, with two query heads for each
// key head.
func TestGemmBatchHeads(t *testing.T) {
	const B, T, S, K, G, D = 2, 3, 5, 2, 2, 7
	const H = K * G
	r := rand.New(rand.NewPCG(9, 10))
	q, k := normals[float64](r, B*T*H*D), normals[float64](r, B*S*K*D)
	scores := make([]float64, B*H*T*S)
	GemmBatch(Batch{B, K, G}, NoTrans, Trans, T, S, D, 1, q, H*D, Strides{T * H * D, G * D, D}, k, K*D, Strides{S * K * D, D, 0},
		0, scores, S, Strides{H * T * S, G * T * S, T * S})
	for b := range B {
		for h := range H {
			for i := range T {
				for j := range S {
					want := 0.0
					for d := range D {
						want += q[((b*T+i)*H+h)*D+d] * k[((b*S+j)*K+h/G)*D+d]
					}
					// Both sums of seven products of size about 1 are within 7 roundings of the exact one.
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
		setProcs(t, procs)
		for _, p := range paths() {
			onPath(t, p)
			for _, s := range []struct {
				batch   Batch
				m, n, k int
			}{{Batch{1, 1, 1}, 3, 5, 7}, {Batch{1, 1, 1}, 1, 400, 300}, {Batch{1, 1, 1}, 400, 1, 300}, {Batch{1, 2, 3}, 65, 70, 50}, {Batch{1, 1, 1}, 395, 61, 49}} {
				for _, transB := range bothWays {
					x := newProblem[float32](r, s.batch, NoTrans, transB, s.m, s.n, s.k, 1, 0, 0)
					noAllocations(t, fmt.Sprintf("%v on %d: %v", p, procs, x), x.run)
				}
			}
		}
	}
}

func TestGemmPanicsOnArgumentsThatDoNotFit(t *testing.T) {
	x := make([]float32, 6)
	huge := math.MaxInt
	for name, f := range map[string]func(){
		"negative dimension":           func() { Gemm(NoTrans, NoTrans, -1, 2, 3, 1, x, 3, x, 2, 0, x, 2) },
		"a: leading dimension":         func() { Gemm(NoTrans, NoTrans, 2, 2, 3, 1, x, 2, x, 2, 0, x, 2) },
		"b: leading dimension":         func() { Gemm(NoTrans, Trans, 2, 2, 3, 1, x, 3, x, 2, 0, x, 2) },
		"a: slice is too short":        func() { Gemm(NoTrans, NoTrans, 2, 2, 3, 1, x[:5], 3, x, 2, 0, x, 2) },
		"b: slice is too short":        func() { Gemm(NoTrans, NoTrans, 2, 2, 3, 1, x, 3, x, huge, 0, x, 2) },
		"c: slice is too short":        func() { Gemm(NoTrans, NoTrans, 2, 2, 3, 1, x, 3, x, 2, 0, x[:3], 2) },
		"b: negative stride":           func() { GemmStrided(2, NoTrans, NoTrans, 1, 2, 1, 1, x, 1, 1, x, 2, -1, 0, x, 2, 2) },
		"c: matrices of the batch":     func() { GemmStrided(2, NoTrans, NoTrans, 1, 2, 1, 1, x, 1, 1, x, 2, 1, 0, x, 2, 0) },
		"a: slice is too short (wrap)": func() { Gemm(NoTrans, NoTrans, huge, 1, 3, 1, x, 3, x, 1, 0, x, 1) },
		"c: slice is too short (wrap)": func() { GemmStrided(huge, NoTrans, NoTrans, 1, 1, 1, 1, x, 1, 0, x, 1, 0, 0, x, 1, huge/2+1) },
	} {
		func() {
			defer func() {
				want, _, _ := strings.Cut(name, " (")
				if got, _ := recover().(string); !strings.HasPrefix(got, "kernel: gemm: "+want) {
					t.Errorf("%s: panic %q, want kernel: gemm: %s …", name, got, want)
				}
			}()
			f()
		}()
	}
}

func TestPeakFMA(t *testing.T) {
	for _, p := range paths() {
		onPath(t, p)
		// Even plain Go on an old core does more than 10⁷ operations a second, and no core does 10¹².
		if got := PeakFMA[float32](1e6); got < 1e7 || got > 1e12 {
			t.Errorf("%v: PeakFMA = %g", p, got)
		}
		if got := PeakFMA[float64](1e6); got < 1e7 || got > 1e12 {
			t.Errorf("%v: PeakFMA = %g", p, got)
		}
	}
}
