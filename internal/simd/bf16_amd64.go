//go:build !noasm

package simd

import "golang.org/x/sys/cpu"

// pairsBF16 reports whether pairs of bfloat16 are multiplied in assembly if the set is AVX512.
var pairsBF16 = lacked(AVX512) == "" && cpu.X86.HasAVX512BF16

// WithoutPairs makes plain Go multiply pairs until restore is called, for a test.
func WithoutPairs() (restore func()) {
	before := pairsBF16
	pairsBF16 = false
	return func() { pairsBF16 = before }
}

// nativeBF16 reports whether pairs are multiplied in assembly.
func nativeBF16() bool { return pairsBF16 && inUse == AVX512 }

// lackedBF16 returns the missing feature because of which this process cannot multiply pairs in assembly, or "".
func lackedBF16() string {
	switch {
	case !pairsBF16:
		return "the processor lacks AVX512-BF16"
	case inUse != AVX512:
		return Variable + "=" + inUse.String()
	}
	return ""
}

// PairTile is tile of k pairs. It reads B in whole vectors.
func PairTile(m, n, k int, alpha float32, a []float32, aRow, aCol, aPanel int, b []float32, bRow int, beta float32,
	c []float32, cRow int) {
	if !nativeBF16() || min(m, n, k) < 1 || n > PairWidth {
		pairTileGo(m, n, k, alpha, a, aRow, aCol, aPanel, b, bRow, beta, c, cRow)
		return
	}
	reaches("pairTile: a", len(a), tileReach[float32](m, aRow, aPanel)+(k-1)*aCol+1)
	reaches("pairTile: b", len(b), (k-1)*bRow+padded[float32](n))
	reaches("pairTile: c", len(c), (m-1)*cRow+n)
	spairTileBF16(m, n, k, alpha, single(a), aRow, aCol, aPanel, single(b), bRow, beta, single(c), cRow)
}

// PairRows writes the pairs of the elements of two rows, x and y, in panels of pairWidth, each panel elements after the
// one before; then of the rows behind those, rows times in all.
func PairRows(rows, n int, x, y []float32, xRow int, pairs []float32, pairsRow, panel int) {
	if !nativeBF16() || min(rows, n) < 1 || min(xRow, pairsRow, panel) < 0 {
		pairRowsGo(rows, n, x, y, xRow, pairs, pairsRow, panel)
		return
	}
	reaches("pairRows: x", len(x), (rows-1)*xRow+n)
	reaches("pairRows: y", len(y), (rows-1)*xRow+n)
	reaches("pairRows: pairs", len(pairs), (rows-1)*pairsRow+(n-1)/PairWidth*panel+PairWidth)
	spairRowsBF16(rows, n, single(x), single(y), xRow, single(pairs), pairsRow, panel)
}

// PairElements writes the pairs of rows, each padded to whole multiples of pairsTogether.
func PairElements(rows, n int, x []float32, xRow int, pairs []float32, pairsRow int) {
	if !nativeBF16() || min(rows, n) < 1 || min(xRow, pairsRow) < 0 {
		pairElementsGo(rows, n, x, xRow, pairs, pairsRow)
		return
	}
	reaches("pairElements: x", len(x), (rows-1)*xRow+n)
	reaches("pairElements: pairs", len(pairs), (rows-1)*pairsRow+PairsOf(n))
	spairElementsBF16(rows, n, single(x), xRow, single(pairs), pairsRow)
}

// RoundElements writes the numbers of x, rounded, to y.
func RoundElements(x, y []float32) {
	if !nativeBF16() || len(x) == 0 {
		roundElementsGo(x, y)
		return
	}
	reaches("roundElements: y", len(y), len(x))
	sroundElementsBF16(len(x), single(x), single(y))
}

// pairLoop computes the independent products of pairs of two tiles, n times.
func pairLoop(n int) { spairLoopBF16(n) }
