//go:build !amd64 || noasm

package kernel

func nativeBF16() bool { return false }

// lackedBF16 returns what this process lacks to multiply pairs in assembly.
func lackedBF16() string { return "there are no kernels for it here" }

func pairTile(m, n, k int, alpha float32, a []float32, aRow, aCol, aPanel int, b []float32, bRow int, beta float32,
	c []float32, cRow int) {
	pairTileGo(m, n, k, alpha, a, aRow, aCol, aPanel, b, bRow, beta, c, cRow)
}

func pairRows(rows, n int, x, y []float32, xRow int, pairs []float32, pairsRow, panel int) {
	pairRowsGo(rows, n, x, y, xRow, pairs, pairsRow, panel)
}

func pairElements(rows, n int, x []float32, xRow int, pairs []float32, pairsRow int) {
	pairElementsGo(rows, n, x, xRow, pairs, pairsRow)
}

func roundElements(x, y []float32) { roundElementsGo(x, y) }

func pairLoop(n int) {}
