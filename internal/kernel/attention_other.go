//go:build !amd64 || noasm

package kernel

func maxColumns[F Float](_ path, rows, n int, x []F, ld int, top []F) {
	maxColumnsGo(rows, n, x, ld, top)
}

func expColumns[F Float](_ path, rows, n int, x []F, ld int, shift, sum []F) {
	expColumnsGo(rows, n, x, ld, shift, sum)
}

func hideColumns[F Float](_ path, rows, n int, x []F, ld int, lo, hi []F) {
	hideColumnsGo(rows, n, x, ld, lo, hi)
}

func gradientRows[F Float](_ path, rows, n int, p, dp []F, ld int, shift, delta []F) {
	gradientRowsGo(rows, n, p, dp, ld, shift, delta)
}

func dropRows[F Float](_ path, rows, n int, x []F, ld int, start, columnStep, rowStep, below uint64, scale F) {
	dropRowsGo(rows, n, x, ld, start, columnStep, rowStep, below, scale)
}

func capRows[F Float](_ path, rows, n int, x []F, ld int, slope []F, c F) {
	capRowsGo(rows, n, x, ld, slope, c)
}
