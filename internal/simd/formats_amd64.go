//go:build !noasm

package simd

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// ReadsBlocks reports whether assembly reads blocks, and therefore whether Dot accepts them.
func ReadsBlocks() bool { return inUse == AVX512 || inUse == AVX2 && cpu.X86.HasF16C }

// Unpack sets y to the numbers of whole blocks. The number of numbers in half precision may be any.
func (b *Blocks) Unpack(y []float32, x []byte) {
	whole := 0
	if ReadsBlocks() {
		whole = len(y) / BlockNumbers
	}
	if rest := whole * BlockNumbers; rest < len(y) {
		b.unpackGo(y[rest:], x[whole*b.bytes():])
		y = y[:rest]
	}
	if whole == 0 {
		return
	}
	reaches("unpack: blocks", len(x), whole*b.bytes())
	values, at := (*uint8)(unsafe.Pointer(&b.Values)), unsafe.SliceData(x)
	if inUse == AVX512 {
		sunpackBlocksAVX512(len(y), int(b.Kind), values, at, single(y))
	} else {
		sunpackBlocksAVX2(len(y), int(b.Kind), values, at, single(y))
	}
}

// Dot sets y to the products of rows of whole blocks with x. Its bits are those of package simd's Dot.
func (b *Blocks) Dot(a []byte, x, y []float32) {
	if len(y) == 0 {
		return
	}
	if len(x) == 0 || len(x)%BlockNumbers != 0 {
		panic("simd: dot: rows are not whole blocks")
	}
	reaches("dot: blocks", len(a), len(y)*(len(x)/BlockNumbers*b.bytes()))
	values, at := (*uint8)(unsafe.Pointer(&b.Values)), unsafe.SliceData(a)
	if inUse == AVX512 {
		sdotBlocksAVX512(len(y), len(x), int(b.Kind), values, at, single(x), single(y))
	} else {
		sdotBlocksAVX2(len(y), len(x), int(b.Kind), values, at, single(x), single(y))
	}
}

// Unpack sets y to scale·x + plus, both rounded, for the 256 numbers x of a block. Each 16 numbers share a scale and a
// plus.
func (l *Layout) Unpack(y []float32, x []byte, scale, plus *[16]float32) {
	if inUse == Go {
		l.unpackGo(y, x, scale, plus)
		return
	}
	reaches("unpack: numbers", len(y), 16*len(l.runs))
	reaches("unpack: block", len(x), l.reach)
	of, at := (*uint8)(unsafe.Pointer(l)), unsafe.SliceData(x)
	if inUse == AVX512 {
		sunpackGroupAVX512(16*len(l.runs), int(l.kind), of, at, &scale[0], &plus[0], single(y))
	} else {
		sunpackGroupAVX2(16*len(l.runs), int(l.kind), of, at, &scale[0], &plus[0], single(y))
	}
}
