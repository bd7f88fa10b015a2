package kernel

// CopyTransposed sets element (j,i) of dst to element (i,j) of src for i < rows and j < cols. dstRow and srcRow are the
// distances between the rows of the two.
func CopyTransposed[F Float](rows, cols int, dst []F, dstRow int, src []F, srcRow int) {
	checkMatrix("copy: src", NoTrans, rows, cols, len(src), srcRow, 1, 0)
	checkMatrix("copy: dst", NoTrans, cols, rows, len(dst), dstRow, 1, 0)
	if min(rows, cols) > 0 {
		transposePanel(chosenPath, cols, rows, src, srcRow, dst, dstRow)
	}
}
