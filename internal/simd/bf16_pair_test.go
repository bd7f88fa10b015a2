package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPairDot compares with the instruction: millions of pairs, added to a sum.
func TestPairDot(t *testing.T) {
	if !BF16() {
		t.Skip("this processor has no instructions for products of bfloat16")
	}
	r := rand.New(rand.NewPCG(3, 4))
	const m, n, rounds = 64, PairWidth, 1500
	a, b, c, want := make([]float32, 2*m), make([]float32, 2*n), make([]float32, m*n), make([]float32, m*n)
	kinds := map[string]int{}
	for range rounds {
		anyBits(r, a)
		anyBits(r, b)
		// The first pair makes the sum.
		PairTile(m, n, 2, 1, a, 2, 1, 2*PairRowsTall, b, n, 0, c, n)
		pairTileGo(m, n, 2, 1, a, 2, 1, 2*PairRowsTall, b, n, 0, want, n)
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

// TestPairDotTies adds numbers whose sum is halfway between two float32 numbers, or close to it. There double rounding,
// or another order, gives another result.
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
		// Three rows, or pairs of rows; the space between them must not change.
		const rows = 3
		row, to := 2*n+1, PairsOf(n)+3
		x, y := make([]float32, rows*row), make([]float32, rows*row)
		anyBits(r, x)
		anyBits(r, y)
		got, want := make([]float32, rows*to), make([]float32, rows*to)
		PairElements(rows, n, x, row, got, to)
		pairElementsGo(rows, n, x, row, want, to)
		check("rows", n, got, want)
		got, want = make([]float32, n+1), make([]float32, n+1)
		RoundElements(x[:n], got)
		roundElementsGo(x[:n], want)
		check("rounded row", n, got, want)
		const panel = PairWidth + 5
		to = (n+PairWidth-1)/PairWidth*panel + 1
		got, want = make([]float32, rows*to), make([]float32, rows*to)
		PairRows(rows, n, x, y, row, got, to, panel)
		pairRowsGo(rows, n, x, y, row, want, to, panel)
		for i := range rows {
			for j := range n {
				at := i*to + j/PairWidth*panel + j%PairWidth
				check("two rows", n, got[at:at+1], want[at:at+1])
			}
		}
	}
}

// TestOddSum has sums that would be wrong if they were rounded to float64 and then to float32.
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
