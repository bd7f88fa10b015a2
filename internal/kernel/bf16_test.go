package kernel

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"attention/internal/simd"
)

// TestRoundBF16 compares with the nearer of the two neighbours, for every bfloat16 and numbers just above it.
func TestRoundBF16(t *testing.T) {
	const smallest = 0x1p-126
	of := func(upper uint32) float64 { return float64(math.Float32frombits(upper << 16)) }
	for upper := uint32(0); upper < 0x7f80; upper++ {
		down, up := of(upper), of(upper+1)
		if upper+1 == 0x7f80 {
			up = 0x1p128
		}
		for _, part := range []uint32{0, 1, 0x7fff, 0x8000, 0x8001, 0xffff} {
			v := math.Float32frombits(upper<<16 | part)
			want := down
			switch x := float64(v); {
			case x < smallest:
				want = 0
			case x-down > up-x, x-down == up-x && upper&1 == 1:
				want = up
			}
			for _, sign := range []float32{1, -1} {
				got := simd.RoundBF16(sign * v)
				if got != sign*float32(want) || math.Signbit(float64(got)) != (sign < 0) {
					t.Fatalf("%g: got %g, want %g", sign*v, got, sign*float32(want))
				}
			}
		}
	}
	inf := float32(math.Inf(1))
	if simd.RoundBF16(inf) != inf || simd.RoundBF16(-inf) != -inf {
		t.Error("an infinity changed")
	}
	for _, bits := range []uint32{0x7f800001, 0xff800001, 0x7fc00000, 0x7fffffff} {
		if got := simd.RoundBF16(math.Float32frombits(bits)); got == got {
			t.Errorf("NaN %#x: got %v", bits, got)
		}
	}
}

// TestGemmBF16 compares with float64 sums of products of rounded operands, on every path and for any number of threads.
func TestGemmBF16(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const batch, m, n, k = 2, 37, 41, 129
	a, b := make([]float32, batch*m*k), make([]float32, batch*k*n)
	for _, x := range [][]float32{a, b} {
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
	}
	for _, p := range paths() {
		onPath(t, p)
		var first []float32
		for _, threads := range []int{1, 2, 5} {
			before := runtime.GOMAXPROCS(threads)
			c := make([]float32, batch*m*n)
			Product[float32]{M: m, N: n, K: k, Alpha: 2, A: Rows(a, k).Every(m * k), B: Rows(b, k).Every(n * k).T(),
				C: Rows(c, n).Every(m * n), Batch: batch, Precision: BFloat16}.Compute()
			runtime.GOMAXPROCS(before)
			if first == nil {
				first = c
			}
			for i, got := range c {
				if got != first[i] {
					t.Fatalf("%v: other bits with %d threads", p, threads)
				}
				x, y := a[i/n*k:][:k], b[i/(m*n)*n*k+i%n*k:][:k]
				want, size := 0.0, 0.0
				for q := range x {
					term := 2 * float64(simd.RoundBF16(x[q])) * float64(simd.RoundBF16(y[q]))
					want, size = want+term, size+math.Abs(term)
				}
				if math.Abs(float64(got)-want) > k*0x1p-24*size {
					t.Fatalf("%v: element %d: got %v, want %v", p, i, got, want)
				}
			}
		}
	}
}

// inPlainGo runs the rest of the test without the instructions of bfloat16.
func inPlainGo(t testing.TB) { onPath(t, simd.Go) }

// equalBits reports whether two numbers are the same to the bit, or both NaN.
func equalBits(x, y float32) bool {
	return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
}

// anyBits returns numbers, many of which are special: near the smallest and the largest ones, infinite, NaN, 0.
func anyBits(r *rand.Rand, x []float32) {
	for i := range x {
		bits := r.Uint32()
		switch r.IntN(8) {
		case 0:
			bits &^= 0x7f800000 // denormal
		case 1:
			bits = bits&^0x7f000000 | 0x00800000 // near the smallest
		case 2:
			bits = bits&0x80000000 | []uint32{0, 0x7f800000, 0x7fc00000, 0x7f800001, 0x7f7fffff, 0x00800000, 0x007fffff,
				0x3f800000, 0x20000000, 0x1f800000}[r.IntN(10)]
		case 3, 4:
			bits = bits&0x80ffffff | 0x3f000000 // near 1
		case 5:
			bits = bits&0x81ffffff | 0x1e000000 // their products are near the smallest numbers
		}
		x[i] = math.Float32frombits(bits)
	}
}
