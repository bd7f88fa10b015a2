package kernel

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"

	"attention/internal/parallel"
	"attention/internal/simd"

	"github.com/stretchr/testify/require"
)

// storedNormals returns n numbers in bfloat16, and the same ones widened.
//
//go:norace
func storedNormals(r *rand.Rand, n int) (stored []uint16, wide []float32) {
	stored, wide = make([]uint16, n), make([]float32, n)
	for i := range wide {
		wide[i] = simd.RoundBF16(float32(r.NormFloat64()))
		stored[i] = uint16(math.Float32bits(wide[i]) >> 16)
	}
	return stored, wide
}

// inFives returns bfloat16 numbers in blocks of five, into which no row divides.
func inFives(stored []uint16) *Blocks {
	const numbers = 5
	b := &Blocks{&Format{Numbers: numbers, Bytes: 2 * numbers, Decode: func(to []float32, blocks []byte) {
		for i := range to {
			to[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(blocks[2*i:])) << 16)
		}
	}}, nil}
	for _, v := range stored {
		b.Data = binary.LittleEndian.AppendUint16(b.Data, v)
	}
	for len(b.Data)%b.Bytes != 0 {
		b.Data = append(b.Data, 0)
	}
	return b
}

// storedShapes covers every way in which a product reads a stored matrix.
var storedShapes = []struct {
	m, n, k int
	reason  string
}{
	{1, 1, 1, "a number"},
	{1, 70, 96, "one row: products of rows in whole steps"},
	{1, 70, 100, "one row: no whole steps"},
	{1, 700, 1024, "one row on several goroutines"},
	{1, 1500, 600, "one row along a matrix in blocks of k"},
	{1, 1536, 605, "one row along a matrix of whole vectors"},
	{1, 15, 3072, "one row that is long: eight rows together, four, and one"},
	{5, 1, 33, "one column"},
	{3, 600, 300, "few rows, read along the matrix"},
	{4, 640, 301, "few rows, along a matrix of whole vectors"},
	{4, 33, 7, "few rows, few numbers"},
	{8, 64, 256, "whole tiles"},
	{13, 45, 31, "beside tiles"},
	{140, 100, 520, "several blocks of k"},
	{200, 2100, 40, "A is copied too"},
	{400, 300, 129, "more rows than a block"},
	{31, 1030, 64, "rows a page apart"},
}

// TestGemmStored compares products of stored matrices with those of the matrices widened first, to the bit: matrices
// that begin at a whole word or not, and batches of matrices with gaps between rows, times transposed ones.
func TestGemmStored(t *testing.T) {
	for _, p := range paths() {
		for _, precision := range []Precision{Full, BFloat16} {
			t.Run(fmt.Sprint(p, " ", precision), func(t *testing.T) {
				skipPlainGo(t, p)
				onPath(t, p)
				testGemmStored(t, precision)
			})
		}
	}
}

func testGemmStored(t *testing.T, precision Precision) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, s := range storedShapes {
		if precision == BFloat16 && !simd.BF16() && s.m*s.n*s.k > 1<<20 {
			continue // it takes seconds
		}
		for _, trans := range []bool{false, true} {
			for _, layout := range []struct{ offset, gap, batch int }{{0, 0, 1}, {1, 0, 1}, {0, 2, 1}, {1, 3, 2}} {
				rows, ld := s.k, s.n+layout.gap
				if trans {
					rows, ld = s.n, s.k+layout.gap
				}
				stored, wide := storedNormals(r, layout.batch*rows*ld+layout.offset)
				g := Product[float32]{M: s.m, N: s.n, K: s.k, Alpha: 1, A: Rows(normals[float32](r, s.m*s.k), s.k),
					Beta: float32(layout.gap), Batch: layout.batch, Precision: precision}
				if layout.gap > 0 {
					g.A = Transposed(normals[float32](r, s.k*(s.m+layout.gap)), s.m+layout.gap)
				}
				start := normals[float32](r, layout.batch*s.m*s.n)
				product := func(b Matrix[float32]) []float32 {
					g, out := g, slices.Clone(start)
					g.B, g.C = b.Every(rows*ld).Op(trans), Rows(out, s.n).Every(s.m*s.n)
					g.Compute()
					return out
				}
				got := product(StoredRows[float32](stored[layout.offset:], ld))
				blocks := BlockRows[float32](inFives(stored), ld)
				gotOfBlocks := product(blocks.at(layout.offset))
				if s.m == 1 { // a row beside a stored matrix is read from memory that follows itself
					x := make([]float32, s.k)
					for q := range x {
						if x[q] = g.A.Data[q*g.A.Col]; precision == BFloat16 {
							x[q] = simd.RoundBF16(x[q])
						}
					}
					g.A, g.Precision = Rows(x, s.k), Full
				}
				want := product(Rows(wide[layout.offset:], ld))
				require.True(t, sameBits(want, got), "%s, transposed %v, %+v", s.reason, trans, layout)
				require.True(t, sameBits(want, gotOfBlocks), "%s, transposed %v, %+v, blocks", s.reason, trans, layout)
			}
		}
	}
}

// TestGemmStoredRefusesShortSlices tests the checks that run before the assembly.
func TestGemmStoredRefusesShortSlices(t *testing.T) {
	x, w, y := make([]float32, 6), make([]uint16, 12), make([]float32, 8)
	for _, precision := range []Precision{Full, BFloat16} {
		product := func(x []float32, w []uint16, y []float32) func() {
			return Product[float32]{M: 2, N: 4, K: 3, Alpha: 1, A: Rows(x, 3), B: StoredRows[float32](w, 3).T(), C: Rows(y, 4),
				Precision: precision}.Compute
		}
		require.Panics(t, Product[float32]{M: 2, N: 4, K: 3, Alpha: 1, A: Rows(x, 3), C: Rows(y, 4), Precision: precision,
			B: BlockRows[float32](inFives(w[:10]), 3).T()}.Compute, "blocks")
		require.Panics(t, product(x[:5], w, y), "x")
		require.Panics(t, product(x, w[:11], y), "w")
		require.Panics(t, product(x, w, y[:7]), "y")
	}
	require.Panics(t, Product[float64]{M: 2, N: 4, K: 3, Alpha: 1, A: Rows(make([]float64, 6), 3),
		B: StoredRows[float64](w, 3).T(), C: Rows(make([]float64, 8), 4)}.Compute, "float64")
}

// TestWiden widens every number of bfloat16.
func TestWiden(t *testing.T) {
	all := make([]uint16, 1<<16+7)
	for i := range all {
		all[i] = uint16(i)
	}
	for _, p := range paths() {
		onPath(t, p)
		got := make([]float32, len(all))
		Widen(got, all)
		for i, v := range got {
			require.Equal(t, uint32(all[i])<<16, math.Float32bits(v), "%v", p)
		}
	}
	require.Panics(t, func() { Widen(make([]float32, 3), all[:2]) })
	require.Panics(t, func() { inFives(all[:10]).Take(make([]float32, 3), 8) })
}

// TestLinearLossOfStored compares the loss and dX of a stored matrix with those of the matrix widened first.
func TestLinearLossOfStored(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const rows, cols, width = 9, 50, 32
	stored, wide := storedNormals(r, cols*width)
	loss := LinearLoss[float32]{X: normals[float32](r, rows*width), W: Rows(wide, width), Width: width, Divisor: rows, Scale: 1,
		Targets: Targets[float32]{IDs: make([]int64, rows), Cols: cols}, Logits: make([]float32, rows*cols),
		DX: make([]float32, rows*width)}
	of := loss
	of.W, of.DX = StoredRows[float32](stored, width), make([]float32, rows*width)
	require.Equal(t, loss.Sum(), of.Sum())
	require.Equal(t, loss.DX, of.DX)
}

// BenchmarkStored prints how fast a product of one row reads a stored matrix that lies in memory, at shapes of
// Qwen2.5-0.5B, Llama-3.2-1B and, not transposed, GPT-2: it uses the best of calls that alternate with reading the same
// number of bytes.
func BenchmarkStored(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const most = 1 << 28
	words := make([]uint16, most)
	for i := range words {
		words[i] = 0x3f80 | uint16(i)&0x807f
	}
	at := 0
	for _, s := range []struct {
		n, k  int
		trans bool
	}{
		{896, 896, true}, {4864, 896, true}, {896, 4864, true}, {8192, 2048, true}, {2048, 8192, true},
		{151936, 896, true}, {768, 768, false}, {2304, 768, false}, {3072, 768, false}, {768, 3072, false},
	} {
		x, y, size := normals[float32](r, s.k), make([]float32, s.n), s.n*s.k
		bytes, read := float64(2*size), math.Inf(1)
		product, float := read, read
		next := func() []uint16 {
			if at += size; at+size > most {
				at = 0
			}
			return words[at:][:size]
		}
		numbers := func() []float32 {
			return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(next()))), size/2)
		}
		half, ld, whole := s.n/2, s.n/2, s.n // half as many float32 columns have the same number of bytes
		if s.trans {
			ld, whole = s.k, s.k
		}
		b.Run(fmt.Sprintf("%dx%d", s.n, s.k), func(b *testing.B) {
			for b.Loop() {
				read = min(read, timeOf(func() { readAll(numbers()) }))
				product = min(product, timeOf(func() {
					Product[float32]{M: 1, N: s.n, K: s.k, Alpha: 1, A: Rows(x, s.k), B: StoredRows[float32](next(), whole).Op(s.trans),
						C: Rows(y, s.n)}.Compute()
				}))
				float = min(float, timeOf(func() {
					Product[float32]{M: 1, N: half, K: s.k, Alpha: 1, A: Rows(x, s.k), B: Rows(numbers(), ld).Op(s.trans),
						C: Rows(y, half)}.Compute()
				}))
			}
			b.ReportMetric(bytes/read/1e9, "GB/s")
			b.ReportMetric(read/product, "share")
			b.ReportMetric(read/float, "float32-share")
		})
	}
}

// timeOf returns how many seconds f takes.
func timeOf(f func()) float64 {
	begin := time.Now()
	f()
	return time.Since(begin).Seconds()
}

// readAll reads memory on all cores.
func readAll(x []float32) { parallel.Do(reading{x}, len(x), 1<<16) }

type reading struct{ x []float32 }

func (c reading) Do(lo, hi int) { SumSquares(c.x[lo:hi]) }
