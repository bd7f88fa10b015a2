//go:build !amd64 || noasm

package kernel

func tile[F Float](_ path, m, n, k int, alpha F, a []F, aRow, aCol, aPanel int, b []F, bRow int, beta F, c []F, cRow int) {
	tileGo(m, n, k, alpha, a, aRow, aCol, aPanel, b, bRow, beta, c, cRow)
}

func dot[F Float](_ path, a []F, aRow int, x, y []F) { dotGo(a, aRow, x, y) }

func copyPanel[F Float](_ path, k, n int, src []F, srcRow int, dst []F, dstRow int) {
	copyGo(k, n, src, srcRow, dst, dstRow)
}

func transposePanel[F Float](_ path, k, n int, src []F, srcRow int, dst []F, dstRow int) {
	transposeGo(k, n, src, srcRow, dst, dstRow)
}
