package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// inPlainGo runs the rest of the test without the instructions of bfloat16.
func inPlainGo(t testing.TB) { onPath(t, pathGo) }

// equalBits reports whether two numbers are the same to the bit, or both NaN.
func equalBits(x, y float32) bool {
	return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
}

// anyBits returns numbers of which many are special: near the smallest and the largest ones, infinite, NaN, 0.
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
			bits = bits&0x81ffffff | 0x1e000000 // whose products are near the smallest
		}
		x[i] = math.Float32frombits(bits)
	}
}

// TestPairDot compares with the instruction: millions of pairs, added to a sum.
func TestPairDot(t *testing.T) {
	if !BF16() {
		t.Skip("this processor has no instructions for products of bfloat16")
	}
	r := rand.New(rand.NewPCG(3, 4))
	const m, n, rounds = 64, pairWidth, 1500
	a, b, c, want := make([]float32, 2*m), make([]float32, 2*n), make([]float32, m*n), make([]float32, m*n)
	kinds := map[string]int{}
	for range rounds {
		anyBits(r, a)
		anyBits(r, b)
		// The first pair makes the sum.
		pairTile(m, n, 2, 1, a, 2, 1, 2*pairRowsTall, b, n, 0, c, n)
		pairTileGo(m, n, 2, 1, a, 2, 1, 2*pairRowsTall, b, n, 0, want, n)
		for i := range c {
			if !equalBits(c[i], want[i]) {
				t.Fatalf("%08x·%08x + %08x·%08x: got %08x in plain Go, want %08x", math.Float32bits(a[i/n*2]),
					math.Float32bits(b[i%n]), math.Float32bits(a[i/n*2+1]), math.Float32bits(b[n+i%n]),
					math.Float32bits(want[i]), math.Float32bits(c[i]))
			}
			switch v := float64(c[i]); {
			case v != v:
				kinds["NaN"]++
			case math.IsInf(v, 0):
				kinds["∞"]++
			case v == 0:
				kinds["0"]++
			case math.Abs(v) < 0x1p-125:
				kinds["small"]++
			}
		}
	}
	for _, kind := range []string{"NaN", "∞", "0", "small"} {
		if kinds[kind] < 1000 {
			t.Errorf("got %d results of %s, want 1000 or more", kinds[kind], kind)
		}
	}
}

// TestPairDotTies adds to sums what lies halfway between two numbers, or just beside, where a sum rounded twice, or in
// another order, is another.
func TestPairDotTies(t *testing.T) {
	upper := func(x float64) float32 { return float32(x) } // exact in bfloat16
	for _, c := range []struct {
		reason string
		sum    float32
		x, y   [2]float32 // the first and the second of a pair
		want   float32
	}{
		{"the second comes first", 0, [2]float32{1, 0x1p24}, [2]float32{1, 1}, 0x1p24},
		{"and cancels", -0x1p24, [2]float32{1, 0x1p24}, [2]float32{1, 1}, 1},
		{"halfway goes to even", 1, [2]float32{0, 0x1p-12}, [2]float32{0, 0x1p-12}, 1},
		{"above halfway goes up", 1, [2]float32{0, 0x1p-12}, [2]float32{0, upper(0x1.02p-12)}, 1 + 0x1p-23},
		{"above halfway from an odd one", 1 + 0x1p-23, [2]float32{0, 0x1p-12}, [2]float32{0, upper(0x1.02p-12)},
			1 + 0x1p-22},
		{"a product is flushed", 0, [2]float32{0, 0x1p-64}, [2]float32{0, 0x1p-63}, 0},
		{"one is rounded to the smallest", 0x1p-126, [2]float32{0, -0x1p-80}, [2]float32{0, 0x1p-80}, 0x1p-126},
		{"overflow", math.MaxFloat32, [2]float32{0, 0x1p64}, [2]float32{0, 0x1p63}, float32(math.Inf(1))},
	} {
		got := pairDot(c.sum, pairOf(c.x[0], c.x[1]), pairOf(c.y[0], c.y[1]))
		if !equalBits(got, c.want) {
			t.Errorf("%s: got %g, want %g", c.reason, got, c.want)
		}
	}
}

// TestPairsAreRounded compares copies in assembly with those in plain Go, of any length.
func TestPairsAreRounded(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	check := func(what string, n int, got, want []float32) {
		t.Helper()
		for i := range got {
			g, w := math.Float32bits(got[i]), math.Float32bits(want[i])
			if g != w {
				t.Fatalf("%s of %d: element %d: got %08x, want %08x", what, n, i, g, w)
			}
		}
	}
	for n := range 3000 {
		n %= 130
		// Three rows, or pairs of rows; between them there is room that stays as it is.
		const rows = 3
		row, to := 2*n+1, pairsOf(n)+3
		x, y := make([]float32, rows*row), make([]float32, rows*row)
		anyBits(r, x)
		anyBits(r, y)
		got, want := make([]float32, rows*to), make([]float32, rows*to)
		pairElements(rows, n, x, row, got, to)
		pairElementsGo(rows, n, x, row, want, to)
		check("rows", n, got, want)
		got, want = make([]float32, n+1), make([]float32, n+1)
		roundElements(x[:n], got)
		roundElementsGo(x[:n], want)
		check("rounded row", n, got, want)
		const panel = pairWidth + 5
		to = (n+pairWidth-1)/pairWidth*panel + 1
		got, want = make([]float32, rows*to), make([]float32, rows*to)
		pairRows(rows, n, x, y, row, got, to, panel)
		pairRowsGo(rows, n, x, y, row, want, to, panel)
		for i := range rows {
			for j := range n {
				at := i*to + j/pairWidth*panel + j%pairWidth
				check("two rows", n, got[at:at+1], want[at:at+1])
			}
		}
	}
}

// TestOddSum has sums that, rounded to float64 and then to float32, would come out wrong.
func TestOddSum(t *testing.T) {
	for _, c := range []struct {
		product float64
		x, want float32
	}{
		{1 + 0x1p-24, 0x1p-60, 1 + 0x1p-23},
		{1 + 0x3p-24, -0x1p-60, 1 + 0x1p-23},
		{-1 - 0x1p-24, -0x1p-60, -1 - 0x1p-23},
		{1 + 0x1p-24, 0, 1},
	} {
		if got := float32(oddSum(c.product, c.x)); got != c.want {
			t.Errorf("%g + %g: got %g, want %g", c.product, c.x, got, c.want)
		}
	}
}
