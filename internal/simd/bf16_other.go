//go:build !amd64 || noasm

package simd

func nativeBF16() bool { return false }

// lackedBF16 returns what this process lacks to multiply pairs in assembly.
func lackedBF16() string { return "there are no kernels for it here" }

func PairTile(m, n, k int, alpha float32, a []float32, aRow, aCol, aPanel int, b []float32, bRow int, beta float32,
	c []float32, cRow int) {
	pairTileGo(m, n, k, alpha, a, aRow, aCol, aPanel, b, bRow, beta, c, cRow)
}

func PairRows(rows, n int, x, y []float32, xRow int, pairs []float32, pairsRow, panel int) {
	pairRowsGo(rows, n, x, y, xRow, pairs, pairsRow, panel)
}

func PairElements(rows, n int, x []float32, xRow int, pairs []float32, pairsRow int) {
	pairElementsGo(rows, n, x, xRow, pairs, pairsRow)
}

func RoundElements(x, y []float32) { roundElementsGo(x, y) }

func pairLoop(n int) {}
