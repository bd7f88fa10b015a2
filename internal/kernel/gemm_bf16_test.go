package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"attention/internal/simd"
)

// TestGemmBF16Shapes compares products with sums in float64 of rounded operands, and plain Go with the instructions to
// the bit: edges, both transpositions, distances between rows, α and β.
func TestGemmBF16Shapes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	shapes := []struct {
		batch, m, n, k int
		reason         string
	}{
		{1, 1, 1, 1, "a single product"},
		{2, 1, 33, 7, "one row"},
		{3, 13, 1, 5, "one column"},
		{1, 5, 7, 0, "nothing to multiply"},
		{1, 12, 32, 2, "a tile"},
		{2, 13, 31, 15, "beside a tile"},
		{1, 26, 65, 16, "whole vectors of pairs"},
		{1, 40, 37, 1030, "three blocks of pairs, none of them whole"},
		{1, 400, 33, 9, "more rows than a block"},
		{1, 7, 40, 512, "rows that are moved apart"},
	}
	for _, s := range shapes {
		for i := range 16 {
			transA, transB := i&1 == 1, i&2 == 2
			alpha, beta := float32(1), float32(0)
			if i&4 == 4 {
				alpha, beta = -0.75, 1.25
			}
			strideB := 1 // 0: one B for all
			if i&8 == 8 {
				strideB = 0
			}
			rowsA, colsA, rowsB, colsB := s.m, s.k, s.k, s.n
			if transA {
				rowsA, colsA = colsA, rowsA
			}
			if transB {
				rowsB, colsB = colsB, rowsB
			}
			lda, ldb, ldc := colsA+3, colsB+1, s.n+2
			stepA, stepB, stepC := rowsA*lda, strideB*rowsB*ldb, s.m*ldc
			a, b := make([]float32, s.batch*stepA), make([]float32, s.batch*rowsB*ldb)
			c := make([]float32, s.batch*stepC)
			for _, x := range [][]float32{a, b, c} {
				for i := range x {
					x[i] = float32(r.NormFloat64())
				}
			}
			old := append([]float32(nil), c...)
			call := func(c []float32) {
				Product[float32]{M: s.m, N: s.n, K: s.k, Alpha: alpha, A: Rows(a, lda).Every(stepA).Op(transA),
					B: Rows(b, ldb).Every(stepB).Op(transB), Beta: beta, C: Rows(c, ldc).Every(stepC), Batch: s.batch,
					Precision: BFloat16}.Compute()
			}
			call(c)
			plain := append([]float32(nil), old...)
			t.Run("plain", func(t *testing.T) {
				inPlainGo(t)
				call(plain)
			})
			for i, got := range c {
				if !equalBits(got, plain[i]) {
					t.Fatalf("%s: element %d: got %v, in plain Go %v", s.reason, i, got, plain[i])
				}
				which, row, col := i/stepC, i%stepC/ldc, i%ldc
				if col >= s.n {
					if got != old[i] {
						t.Fatalf("%s: an element between the rows changed", s.reason)
					}
					continue
				}
				x, y := Rows(a[which*stepA:], lda).Op(transA), Rows(b[which*stepB:], ldb).Op(transB)
				want := float64(beta) * float64(old[i])
				size := math.Abs(want)
				for q := range s.k {
					term := float64(alpha) * float64(simd.RoundBF16(x.Data[row*x.Row+q*x.Col])) *
						float64(simd.RoundBF16(y.Data[q*y.Row+col*y.Col]))
					want, size = want+term, size+math.Abs(term)
				}
				// Each sum, the factor α and β·C round once.
				if limit := float64(s.k+3+kBlocks((s.k+1)/2)) * 0x1p-24 * size; math.Abs(float64(got)-want) > limit {
					t.Fatalf("%s, transposed %v %v: element %d: got %v, want %v within %g", s.reason, transA, transB, i, got, want,
						limit)
				}
			}
		}
	}
}

// TestGemmBF16Specials compares plain Go with the instructions where operands are NaN, infinite, huge or denormal.
func TestGemmBF16Specials(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	const m, n, k = 9, 35, 3
	for range 200 {
		a, b, c, plain := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n), make([]float32, m*n)
		anyBits(r, a)
		anyBits(r, b)
		call := func(c []float32) {
			Product[float32]{M: m, N: n, K: k, Alpha: 1, A: Rows(a, k), B: Rows(b, n), C: Rows(c, n),
				Precision: BFloat16}.Compute()
		}
		call(c)
		t.Run("plain", func(t *testing.T) {
			inPlainGo(t)
			call(plain)
		})
		for i, got := range c {
			if !equalBits(got, plain[i]) {
				t.Fatalf("element %d: got %v, in plain Go %v", i, got, plain[i])
			}
		}
	}
}

// TestGemmBF16Rows: a single row, for which B is copied block by block, gets the same bits as among many rows.
func TestGemmBF16Rows(t *testing.T) {
	const m, n, k = blockRows + 5, 70, 2*blockK + 600
	r := rand.New(rand.NewPCG(11, 12))
	for _, trans := range []bool{false, true} {
		a, b := normals[float32](r, m*k), normals[float32](r, k*n)
		ldb := n
		if trans {
			ldb = k
		}
		many, one := make([]float32, m*n), make([]float32, n)
		g := Product[float32]{M: m, N: n, K: k, Alpha: 1, A: Rows(a, k), B: Rows(b, ldb).Op(trans), C: Rows(many, n),
			Precision: BFloat16}
		g.Compute()
		g.M, g.C = 1, Rows(one, n)
		for _, row := range []int{0, 200, m - 1} {
			g.A = Rows(a[row*k:], k)
			g.Compute()
			if !sameBits(many[row*n:][:n], one) {
				t.Errorf("transposed %v: row %d has other bits alone", trans, row)
			}
		}
	}
}
