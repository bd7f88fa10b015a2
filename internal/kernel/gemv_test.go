package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// vectorProblem is one random call of Gemv or Ger. The matrix is (m,n), with padding behind its rows that holds NaN,
// as do the elements around the vectors.
type vectorProblem[F Float] struct {
	m, n, lda   int
	alpha, beta F
	a, x, y     []F
}

func newVectorProblem[F Float](r *rand.Rand, trans Transpose, m, n, padding int, alpha, beta F) *vectorProblem[F] {
	in, out := n, m
	if trans {
		in, out = m, n
	}
	p := &vectorProblem[F]{m: m, n: n, lda: max(n, 1) + padding, alpha: alpha, beta: beta}
	p.a = normals[F](r, max(0, (m-1)*p.lda+n))
	for i := range p.a {
		if i%p.lda >= n {
			p.a[i] = F(math.NaN())
		}
	}
	p.x, p.y = normals[F](r, in), normals[F](r, out)
	return p
}

// closeSum reports whether a sum of count products whose sizes add up to size is what it should be: with count+3
// roundings at most, in whatever order.
func closeSum[F Float](got F, want, size float64, count int) bool {
	eps := 0x1p-24
	if sizeOf[F]() == 8 {
		eps = 0x1p-53
	}
	return math.Abs(float64(got)-want) <= 2*float64(count+3)*eps*size
}

func (p *vectorProblem[F]) String() string {
	return fmt.Sprintf("%T m=%d n=%d lda=%d alpha=%v beta=%v", p.alpha, p.m, p.n, p.lda, p.alpha, p.beta)
}

// checkGemv runs Gemv and compares with sums in float64.
func (p *vectorProblem[F]) checkGemv(t *testing.T, trans Transpose) {
	t.Helper()
	y := append([]F(nil), p.y...)
	if p.beta == 0 {
		for i := range y {
			y[i] = F(math.NaN())
		}
	}
	Gemv(trans, p.m, p.n, p.alpha, p.a, p.lda, p.x, p.beta, y)
	for j, got := range y {
		sum, size := 0.0, 0.0
		for i, v := range p.x {
			at := j*p.lda + i
			if trans {
				at = i*p.lda + j
			}
			if p.alpha == 0 {
				break
			}
			w := float64(p.alpha) * float64(p.a[at]) * float64(v)
			sum, size = sum+w, size+math.Abs(w)
		}
		if p.beta != 0 {
			w := float64(p.beta) * float64(p.y[j])
			sum, size = sum+w, size+math.Abs(w)
		}
		require.True(t, closeSum(got, sum, size, len(p.x)), "%v trans=%v: y[%d] = %v, want %v", p, trans, j, got, sum)
	}
}

// checkGer runs Ger and compares with sums in float64; what is between the rows must stay as it is.
func (p *vectorProblem[F]) checkGer(t *testing.T) {
	t.Helper()
	a := append([]F(nil), p.a...)
	Ger(p.alpha, p.y, p.x, a, p.lda) // y has a number for each row
	for at, got := range a {
		if at%p.lda >= p.n {
			if got == got {
				require.Failf(t, "wrote behind a row", "%v: %v", p, got)
			}
			continue
		}
		w := float64(p.alpha) * float64(p.y[at/p.lda]) * float64(p.x[at%p.lda])
		before := float64(p.a[at])
		if !closeSum(got, before+w, math.Abs(before)+math.Abs(w), 1) {
			require.Failf(t, "differs", "%v: a[%d] = %v, want %v", p, at, got, before+w)
		}
	}
}

func testGemv[F Float](t *testing.T, p path) {
	r := rand.New(rand.NewPCG(21, uint64(p)))
	_, lanes := tileShape[F](p)
	edges := []int{0, 1, 2, 3, 4, 7, 8, 9, 15, 17, lanes - 1, lanes, lanes + 1, 2*lanes + 3, 4 * lanes}
	factors := []F{0, 1, -0.5}
	for range 300 {
		m, n, padding := edges[r.IntN(len(edges))], edges[r.IntN(len(edges))], r.IntN(2)*r.IntN(9)
		for _, trans := range bothWays {
			newVectorProblem(r, trans, m, n, padding, factors[r.IntN(3)], factors[r.IntN(3)]).checkGemv(t, trans)
		}
		newVectorProblem(r, NoTrans, m, n, padding, factors[r.IntN(3)], 0).checkGer(t)
	}
	for _, shape := range [][2]int{{1, 20000}, {20000, 1}, {1031, 67}, {67, 2500}, {1000, 301}} {
		for _, trans := range bothWays {
			newVectorProblem[F](r, trans, shape[0], shape[1], 1, 0.75, -0.5).checkGemv(t, trans)
		}
		newVectorProblem[F](r, NoTrans, shape[0], shape[1], 1, 0.75, 0).checkGer(t)
	}
}

func TestGemvAndGer(t *testing.T) { onPaths(t, testGemv[float32], testGemv[float64]) }

// The largest shape is cut by columns, the others by rows.
func testGemvBits[F Float](t *testing.T, p path) {
	skipPlainGo(t, p)
	r := rand.New(rand.NewPCG(23, uint64(p)))
	for _, shape := range [][2]int{{3000, 131}, {531, 532}, {300, 4100}} {
		for _, trans := range bothWays {
			x := newVectorProblem[F](r, trans, shape[0], shape[1], 0, 0.75, 1.25)
			var wantY, wantA []F
			for _, procs := range []int{1, 2, 5} {
				setProcs(t, procs)
				y, a := append([]F(nil), x.y...), append([]F(nil), x.a...)
				Gemv(trans, x.m, x.n, x.alpha, x.a, x.lda, x.x, x.beta, y)
				u, v := x.y, x.x
				if trans {
					u, v = v, u
				}
				Ger(x.alpha, u, v, a, x.lda)
				if wantY == nil {
					wantY, wantA = append(wantY, y...), append(wantA, a...)
				}
				require.True(t, sameBits(wantY, y), "%v trans=%v: Gemv on %d", x, trans, procs)
				require.True(t, sameBits(wantA, a), "%v: Ger on %d", x, procs)
				noAllocations(t, "Gemv", func() {
					Gemv(trans, x.m, x.n, x.alpha, x.a, x.lda, x.x, x.beta, y)
				})
				noAllocations(t, "Ger", func() { Ger(x.alpha, u, v, a, x.lda) })
			}
		}
	}
}

func TestGemvBitsDoNotDependOnGoroutines(t *testing.T) {
	onPaths(t, testGemvBits[float32], testGemvBits[float64])
}

// NaN and infinities of A reach what they are multiplied with, even when they meet zeros; with α = 0 none does.
func testGemvSpecial[F Float](t *testing.T, _ path) {
	nan, inf := F(math.NaN()), F(math.Inf(1))
	a := []F{1, inf, 2, 3}
	y := []F{nan, nan}
	Gemv(Trans, 2, 2, 1, a, 2, []F{0, 1}, 0, y)
	require.Equal(t, "NaN", kind(y[1]))
	require.Equal(t, F(2), y[0])
	Gemv(Trans, 2, 2, 0, []F{nan, nan, nan, nan}, 2, []F{nan, nan}, 0, y)
	require.Equal(t, []F{0, 0}, y)
	Ger(0, []F{nan, nan}, []F{nan, nan}, a, 2)
	require.Equal(t, []F{1, inf, 2, 3}, a)
	Ger(1, []F{0, 1}, []F{inf, 1}, a, 2)
	for i, want := range []string{"NaN", "+Inf", "+Inf", "finite"} {
		require.Equal(t, want, kind(a[i]), "element %d", i)
	}
}

func TestGemvSpecialValues(t *testing.T) {
	onPaths(t, testGemvSpecial[float32], testGemvSpecial[float64])
}

func testDot[F Float](t *testing.T, p path) {
	r := rand.New(rand.NewPCG(25, uint64(p)))
	for _, n := range []int{0, 1, 2, 3, 7, 15, 16, 17, 31, 33, 100, dotPart, dotPart + 1, 9*dotPart + 5} {
		x, y := normals[F](r, n), normals[F](r, n)
		sum, size := 0.0, 0.0
		for i, v := range x {
			sum, size = sum+float64(v)*float64(y[i]), size+math.Abs(float64(v)*float64(y[i]))
		}
		setProcs(t, 1)
		got := Dot(x, y)
		require.True(t, closeSum(got, sum, size, min(n, dotPart)), "%d: got %v, want %v", n, got, sum)
		setProcs(t, 5)
		require.Equal(t, got, Dot(x, y), "%d: other bits on five processors", n)
		noAllocations(t, "Dot", func() { Dot(x, y) })
		z := append([]F(nil), y...)
		Axpy(-0.5, x, z)
		for i, v := range x {
			want, size := float64(y[i])-0.5*float64(v), math.Abs(float64(y[i]))+0.5*math.Abs(float64(v))
			require.True(t, closeSum(z[i], want, size, 1), "%d: Axpy gave %v, want %v", n, z[i], want)
		}
		noAllocations(t, "Axpy", func() { Axpy(0.5, x, z) })
	}
}

func TestDotAndAxpy(t *testing.T) { onPaths(t, testDot[float32], testDot[float64]) }

func TestGemvPanicsOnArgumentsThatDoNotFit(t *testing.T) {
	x := make([]float32, 6)
	for _, row := range []struct {
		want string
		call func()
	}{
		{want: "gemv: negative dimension", call: func() { Gemv(Trans, -1, 2, 1, x, 2, x[:1], 1, x[:2]) }},
		{want: "gemv: y: slices of lengths", call: func() { Gemv(Trans, 2, 3, 1, x, 3, x[:2], 1, x[:2]) }},
		{want: "gemv: x: slices of lengths", call: func() { Gemv(NoTrans, 2, 3, 1, x, 3, x[:2], 1, x[:2]) }},
		{want: "gemv: a: leading dimension", call: func() { Gemv(Trans, 2, 3, 1, x, 2, x[:2], 1, x[:3]) }},
		{want: "gemv: a: slice is too short", call: func() { Gemv(Trans, 2, 3, 1, x, 4, x[:2], 1, x[:3]) }},
		{want: "ger: a: leading dimension", call: func() { Ger(1, x[:2], x[:3], x, 2) }},
		{want: "ger: a: slice is too short", call: func() { Ger(1, x[:2], x[:3], x, 4) }},
		{want: "dot: slices of lengths", call: func() { Dot(x, x[:2]) }},
		{want: "axpy: slices of lengths", call: func() { Axpy(1, x, x[:2]) }},
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.HasPrefix(got, "kernel: "+row.want) {
					t.Errorf("got panic %q, want kernel: %s …", got, row.want)
				}
			}()
			row.call()
		}()
	}
}
