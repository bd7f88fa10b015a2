package kernel

import "attention/internal/simd"

// CopyTransposed sets element (j,i) of dst to element (i,j) of src for i < rows and j < cols. dstRow and srcRow are the
// distances between the rows of the two.
func CopyTransposed[F Float](rows, cols int, dst []F, dstRow int, src []F, srcRow int) {
	from, to := Rows(src, srcRow), Rows(dst, dstRow)
	from.check("copy: src", len(src), rows, cols, 1)
	to.check("copy: dst", len(dst), cols, rows, 1)
	if min(rows, cols) > 0 {
		simd.TransposePanel(cols, rows, src, srcRow, dst, dstRow)
	}
}
