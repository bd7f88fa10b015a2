//go:build !amd64 || noasm

package kernel

func nativeBF16() bool { return false }

// lackedBF16 returns what this process lacks to multiply pairs in assembly.
func lackedBF16() string { return "there are no kernels for it here" }

func pairTile(m, n, k int, alpha float32, a []float32, aRow, aCol, aPanel int, b []float32, bRow int, beta float32,
	c []float32, cRow int) {
	pairTileGo(m, n, k, alpha, a, aRow, aCol, aPanel, b, bRow, beta, c, cRow)
}

func pairRows(x, y, pairs []float32, panel int) { pairRowsGo(x, y, pairs, panel) }

func pairElements(x, pairs []float32) { pairElementsGo(x, pairs) }

func roundElements(x, y []float32) { roundElementsGo(x, y) }

func pairLoop(n int) {}
