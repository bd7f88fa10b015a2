//go:build !noasm

package kernel

import "golang.org/x/sys/cpu"

// pairsBF16 reports whether the processor multiplies pairs of bfloat16. Only tests change it.
var pairsBF16 = lacked(pathAVX512) == "" && cpu.X86.HasAVX512BF16

// nativeBF16 reports whether pairs are multiplied in assembly.
func nativeBF16() bool { return pairsBF16 && chosenPath == pathAVX512 }

// lackedBF16 returns what this process lacks to multiply pairs in assembly, or "".
func lackedBF16() string {
	switch {
	case !pairsBF16:
		return "the processor lacks AVX512-BF16"
	case chosenPath != pathAVX512:
		return Variable + "=" + chosenPath.String()
	}
	return ""
}

// pairTile is tile of k pairs. B is read in whole vectors.
func pairTile(m, n, k int, alpha float32, a []float32, aRow, aCol, aPanel int, b []float32, bRow int, beta float32,
	c []float32, cRow int) {
	if !nativeBF16() || min(m, n, k) < 1 || n > pairWidth {
		pairTileGo(m, n, k, alpha, a, aRow, aCol, aPanel, b, bRow, beta, c, cRow)
		return
	}
	reaches("pairTile: a", len(a), tileReach[float32](pathAVX512, m, aRow, aPanel)+(k-1)*aCol+1)
	reaches("pairTile: b", len(b), (k-1)*bRow+padded[float32](pathAVX512, n))
	reaches("pairTile: c", len(c), (m-1)*cRow+n)
	spairTileBF16(m, n, k, alpha, single(a), aRow, aCol, aPanel, single(b), bRow, beta, single(c), cRow)
}

// pairRows writes the pairs of the elements of two rows, x and y, in panels of pairWidth, each panel elements after the
// one before; then of the rows behind those, rows times in all.
func pairRows(rows, n int, x, y []float32, xRow int, pairs []float32, pairsRow, panel int) {
	if !nativeBF16() || min(rows, n) < 1 || min(xRow, pairsRow, panel) < 0 {
		pairRowsGo(rows, n, x, y, xRow, pairs, pairsRow, panel)
		return
	}
	reaches("pairRows: x", len(x), (rows-1)*xRow+n)
	reaches("pairRows: y", len(y), (rows-1)*xRow+n)
	reaches("pairRows: pairs", len(pairs), (rows-1)*pairsRow+(n-1)/pairWidth*panel+pairWidth)
	spairRowsBF16(rows, n, single(x), single(y), xRow, single(pairs), pairsRow, panel)
}

// pairElements writes the pairs of rows, each padded to whole multiples of pairsTogether.
func pairElements(rows, n int, x []float32, xRow int, pairs []float32, pairsRow int) {
	if !nativeBF16() || min(rows, n) < 1 || min(xRow, pairsRow) < 0 {
		pairElementsGo(rows, n, x, xRow, pairs, pairsRow)
		return
	}
	reaches("pairElements: x", len(x), (rows-1)*xRow+n)
	reaches("pairElements: pairs", len(pairs), (rows-1)*pairsRow+pairsOf(n))
	spairElementsBF16(rows, n, single(x), xRow, single(pairs), pairsRow)
}

// roundElements writes the numbers of x, rounded, to y.
func roundElements(x, y []float32) {
	if !nativeBF16() || len(x) == 0 {
		roundElementsGo(x, y)
		return
	}
	reaches("roundElements: y", len(y), len(x))
	sroundElementsBF16(len(x), single(x), single(y))
}

// pairLoop does two tiles' worth of independent products of pairs n times over.
func pairLoop(n int) { spairLoopBF16(n) }
