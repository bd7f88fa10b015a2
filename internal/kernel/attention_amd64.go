//go:build !noasm

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// dropsByVector tells whether the AVX-512 of this processor multiplies 64-bit integers.
var dropsByVector = cpu.X86.HasAVX512DQ

// wholeTile makes sure that n columns, up to whole vectors, of all rows lie inside slices: tiles of the given
// lengths, and lines with one number for each column.
func wholeTile[F Float](p path, rows, n, ld int, tile int, lines ...int) {
	_, lanes := tileShape[F](p)
	width := (n + lanes - 1) / lanes * lanes
	if rows < 1 || n < 1 || ld < 0 {
		panic("kernel: attention: a tile without sense")
	}
	within(tile, (rows-1)*ld+width-1)
	for _, length := range lines {
		within(length, width-1)
	}
}

func maxColumns[F Float](p path, rows, n int, x []F, ld int, top []F) {
	if p == pathGo {
		maxColumnsGo(rows, n, x, ld, top)
		return
	}
	wholeTile[F](p, rows, n, ld, len(x), len(top))
	px, pt := unsafe.Pointer(&x[0]), unsafe.Pointer(&top[0])
	switch single := sizeOf[F]() == 4; {
	case single && p == pathAVX512:
		smaxColumnsAVX512(rows, n, (*float32)(px), ld, (*float32)(pt))
	case single:
		smaxColumnsAVX2(rows, n, (*float32)(px), ld, (*float32)(pt))
	case p == pathAVX512:
		dmaxColumnsAVX512(rows, n, (*float64)(px), ld, (*float64)(pt))
	default:
		dmaxColumnsAVX2(rows, n, (*float64)(px), ld, (*float64)(pt))
	}
}

func expColumns[F Float](p path, rows, n int, x []F, ld int, shift, sum []F) {
	if p == pathGo {
		expColumnsGo(rows, n, x, ld, shift, sum)
		return
	}
	wholeTile[F](p, rows, n, ld, len(x), len(shift), len(sum))
	px, ph, ps := unsafe.Pointer(&x[0]), unsafe.Pointer(&shift[0]), unsafe.Pointer(&sum[0])
	switch single := sizeOf[F]() == 4; {
	case single && p == pathAVX512:
		sexpColumnsAVX512(rows, n, (*float32)(px), ld, (*float32)(ph), (*float32)(ps))
	case single:
		sexpColumnsAVX2(rows, n, (*float32)(px), ld, (*float32)(ph), (*float32)(ps))
	case p == pathAVX512:
		dexpColumnsAVX512(rows, n, (*float64)(px), ld, (*float64)(ph), (*float64)(ps))
	default:
		dexpColumnsAVX2(rows, n, (*float64)(px), ld, (*float64)(ph), (*float64)(ps))
	}
}

func hideColumns[F Float](p path, rows, n int, x []F, ld int, lo, hi []F) {
	if p == pathGo {
		hideColumnsGo(rows, n, x, ld, lo, hi)
		return
	}
	wholeTile[F](p, rows, n, ld, len(x), len(lo), len(hi))
	px, pl, ph := unsafe.Pointer(&x[0]), unsafe.Pointer(&lo[0]), unsafe.Pointer(&hi[0])
	switch single := sizeOf[F]() == 4; {
	case single && p == pathAVX512:
		shideColumnsAVX512(rows, n, (*float32)(px), ld, (*float32)(pl), (*float32)(ph))
	case single:
		shideColumnsAVX2(rows, n, (*float32)(px), ld, (*float32)(pl), (*float32)(ph))
	case p == pathAVX512:
		dhideColumnsAVX512(rows, n, (*float64)(px), ld, (*float64)(pl), (*float64)(ph))
	default:
		dhideColumnsAVX2(rows, n, (*float64)(px), ld, (*float64)(pl), (*float64)(ph))
	}
}

func gradientRows[F Float](p path, rows, n int, x, dx []F, ld int, shift, delta []F) {
	if p == pathGo {
		gradientRowsGo(rows, n, x, dx, ld, shift, delta)
		return
	}
	wholeTile[F](p, rows, n, ld, min(len(x), len(dx)))
	within(len(shift), rows-1)
	within(len(delta), rows-1)
	px, pd := unsafe.Pointer(&x[0]), unsafe.Pointer(&dx[0])
	ps, pt := unsafe.Pointer(&shift[0]), unsafe.Pointer(&delta[0])
	switch single := sizeOf[F]() == 4; {
	case single && p == pathAVX512:
		sgradientRowsAVX512(rows, n, (*float32)(px), (*float32)(pd), ld, (*float32)(ps), (*float32)(pt))
	case single:
		sgradientRowsAVX2(rows, n, (*float32)(px), (*float32)(pd), ld, (*float32)(ps), (*float32)(pt))
	case p == pathAVX512:
		dgradientRowsAVX512(rows, n, (*float64)(px), (*float64)(pd), ld, (*float64)(ps), (*float64)(pt))
	default:
		dgradientRowsAVX2(rows, n, (*float64)(px), (*float64)(pd), ld, (*float64)(ps), (*float64)(pt))
	}
}

func capRows[F Float](p path, rows, n int, x []F, ld int, slope []F, c F) {
	if p == pathGo {
		capRowsGo(rows, n, x, ld, slope, c)
		return
	}
	wholeTile[F](p, rows, n, ld, len(x))
	px, ps := unsafe.Pointer(&x[0]), unsafe.Pointer(nil)
	if slope != nil {
		wholeTile[F](p, rows, n, ld, len(slope))
		ps = unsafe.Pointer(&slope[0])
	}
	switch single := sizeOf[F]() == 4; {
	case single && p == pathAVX512:
		scapRowsAVX512(rows, n, (*float32)(px), ld, (*float32)(ps), float32(c))
	case single:
		scapRowsAVX2(rows, n, (*float32)(px), ld, (*float32)(ps), float32(c))
	case p == pathAVX512:
		dcapRowsAVX512(rows, n, (*float64)(px), ld, (*float64)(ps), float64(c))
	default:
		dcapRowsAVX2(rows, n, (*float64)(px), ld, (*float64)(ps), float64(c))
	}
}

func dropRows[F Float](p path, rows, n int, x []F, ld int, start, columnStep, rowStep, below uint64, scale F) {
	if p != pathAVX512 || !dropsByVector {
		dropRowsGo(rows, n, x, ld, start, columnStep, rowStep, below, scale)
		return
	}
	wholeTile[F](p, rows, n, ld, len(x))
	var first [8]uint64
	for i := range first {
		first[i] = start + uint64(i)*columnStep
	}
	px := unsafe.Pointer(&x[0])
	if sizeOf[F]() == 4 {
		sdropRowsAVX512(rows, n, (*float32)(px), ld, &first[0], columnStep, rowStep, below, float32(scale))
	} else {
		ddropRowsAVX512(rows, n, (*float64)(px), ld, &first[0], columnStep, rowStep, below, float64(scale))
	}
}
