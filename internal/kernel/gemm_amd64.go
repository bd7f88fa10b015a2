//go:build !noasm

package kernel

import "unsafe"

//go:generate go -C gen run . ..

// Assembly knows no bounds: every function here first makes sure that the last element that the assembly
// reaches lies inside its slice.
func within(length, last int) {
	if uint(last) >= uint(length) {
		panic("kernel: gemm: a tile reaches outside its slice")
	}
}

// tile computes C ← α·A·B + β·C for one panel of columns. A is read through two strides, and every group of
// rows as tall as the tile begins aPanel after the one before. B is read in whole vectors.
func tile[F Float](p path, m, n, k int, alpha F, a []F, aRow, aCol, aPanel int, b []F, bRow int, beta F, c []F, cRow int) {
	if p == pathGo {
		tileGo(m, n, k, alpha, a, aRow, aCol, aPanel, b, bRow, beta, c, cRow)
		return
	}
	rows, lanes := tileShape[F](p)
	if m < 1 || n < 1 || k < 1 || n > 2*lanes || min(aRow, aCol, aPanel, bRow, cRow) < 0 {
		panic("kernel: gemm: a tile without sense")
	}
	panels, last := (m-1)/rows, (m-1)%rows
	within(len(a), panels*aPanel+last*aRow+(k-1)*aCol)
	if panels > 0 {
		within(len(a), (panels-1)*aPanel+(rows-1)*aRow+(k-1)*aCol)
	}
	within(len(b), (k-1)*bRow+(n+lanes-1)/lanes*lanes-1)
	within(len(c), (m-1)*cRow+n-1)
	pa, pb, pc := unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), unsafe.Pointer(&c[0])
	if sizeOf[F]() == 4 {
		if p == pathAVX512 {
			sgemmTileAVX512(m, n, k, float32(alpha), (*float32)(pa), aRow, aCol, aPanel, (*float32)(pb), bRow, float32(beta), (*float32)(pc), cRow)
		} else {
			sgemmTileAVX2(m, n, k, float32(alpha), (*float32)(pa), aRow, aCol, aPanel, (*float32)(pb), bRow, float32(beta), (*float32)(pc), cRow)
		}
		return
	}
	if p == pathAVX512 {
		dgemmTileAVX512(m, n, k, float64(alpha), (*float64)(pa), aRow, aCol, aPanel, (*float64)(pb), bRow, float64(beta), (*float64)(pc), cRow)
	} else {
		dgemmTileAVX2(m, n, k, float64(alpha), (*float64)(pa), aRow, aCol, aPanel, (*float64)(pb), bRow, float64(beta), (*float64)(pc), cRow)
	}
}

// dot computes y[i] ← Σ a[i·aRow+p]·x[p] for every i of y and p of x.
func dot[F Float](p path, a []F, aRow int, x, y []F) {
	m, k := len(y), len(x)
	if p == pathGo || m == 0 || k == 0 {
		dotGo(a, aRow, x, y)
		return
	}
	if aRow < 0 {
		panic("kernel: gemm: a negative stride")
	}
	within(len(a), (m-1)*aRow+k-1)
	pa, px, py := unsafe.Pointer(&a[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	if sizeOf[F]() == 4 {
		if p == pathAVX512 {
			sgemmDotAVX512(m, k, (*float32)(pa), aRow, (*float32)(px), (*float32)(py))
		} else {
			sgemmDotAVX2(m, k, (*float32)(pa), aRow, (*float32)(px), (*float32)(py))
		}
		return
	}
	if p == pathAVX512 {
		dgemmDotAVX512(m, k, (*float64)(pa), aRow, (*float64)(px), (*float64)(py))
	} else {
		dgemmDotAVX2(m, k, (*float64)(pa), aRow, (*float64)(px), (*float64)(py))
	}
}

// copyPanel sets dst[p·dstRow+j] ← src[p·srcRow+j] for p < k and j < n, where n is at most two vectors. What
// lies behind the n elements of a row, up to whole vectors, becomes 0 before the next row is written.
func copyPanel[F Float](p path, k, n int, src []F, srcRow int, dst []F, dstRow int) {
	if p == pathGo {
		copyGo(k, n, src, srcRow, dst, dstRow)
		return
	}
	_, lanes := tileShape[F](p)
	if k < 1 || n < 1 || n > 2*lanes || min(srcRow, dstRow) < 0 {
		panic("kernel: gemm: a panel without sense")
	}
	within(len(src), (k-1)*srcRow+n-1)
	within(len(dst), (k-1)*dstRow+(n+lanes-1)/lanes*lanes-1)
	ps, pd := unsafe.Pointer(&src[0]), unsafe.Pointer(&dst[0])
	if sizeOf[F]() == 4 {
		if p == pathAVX512 {
			sgemmCopyAVX512(k, n, (*float32)(ps), srcRow, (*float32)(pd), dstRow)
		} else {
			sgemmCopyAVX2(k, n, (*float32)(ps), srcRow, (*float32)(pd), dstRow)
		}
		return
	}
	if p == pathAVX512 {
		dgemmCopyAVX512(k, n, (*float64)(ps), srcRow, (*float64)(pd), dstRow)
	} else {
		dgemmCopyAVX2(k, n, (*float64)(ps), srcRow, (*float64)(pd), dstRow)
	}
}

// transposePanel sets dst[p·dstRow+j] ← src[j·srcRow+p] for p < k and j < n. Four rows are turned at a time;
// the last four may overlap the ones before.
func transposePanel[F Float](p path, k, n int, src []F, srcRow int, dst []F, dstRow int) {
	if p == pathGo || n < 4 || k < 32/sizeOf[F]() {
		transposeGo(k, n, src, srcRow, dst, dstRow)
		return
	}
	if min(srcRow, dstRow) < 0 {
		panic("kernel: gemm: a negative stride")
	}
	within(len(src), (n-1)*srcRow+k-1)
	within(len(dst), (k-1)*dstRow+n-1)
	ps, pd := unsafe.Pointer(&src[0]), unsafe.Pointer(&dst[0])
	if sizeOf[F]() == 4 {
		sgemmTransposeAVX2(k, n, (*float32)(ps), srcRow, (*float32)(pd), dstRow)
	} else {
		dgemmTransposeAVX2(k, n, (*float64)(ps), srcRow, (*float64)(pd), dstRow)
	}
}
