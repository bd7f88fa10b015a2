package kernel

// Share calls c.Do for consecutive parts that together cover the items [0,n), on several goroutines if there are
// enough items to give each at least grain of them. The parts may depend on the number of goroutines: what an item
// gives must not depend on its part. Unlike Parallel with a function literal, it allocates nothing in steady state.
func Share[C interface{ Do(lo, hi int) }](c C, n, grain int) { split(sharing[C]{c}, n, grain) }

type sharing[C interface{ Do(lo, hi int) }] struct{ c C }

func (s sharing[C]) do(lo, hi int) { s.c.Do(lo, hi) }

// CopyTransposed sets element (j,i) of dst to element (i,j) of src for i < rows and j < cols. dstRow and srcRow are the
// distances between the rows of the two.
func CopyTransposed[F Float](rows, cols int, dst []F, dstRow int, src []F, srcRow int) {
	checkMatrix("copy: src", NoTrans, rows, cols, len(src), srcRow, 1, 0)
	checkMatrix("copy: dst", NoTrans, cols, rows, len(dst), dstRow, 1, 0)
	if min(rows, cols) > 0 {
		transposePanel(chosenPath, cols, rows, src, srcRow, dst, dstRow)
	}
}
