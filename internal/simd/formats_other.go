//go:build !amd64 || noasm

package simd

// ReadsBlocks reports whether blocks are read in assembly, and with it Dot of them.
func ReadsBlocks() bool { return false }

func (b *Blocks) Unpack(y []float32, x []byte) { b.unpackGo(y, x) }

func (b *Blocks) Dot(a []byte, x, y []float32) { panic("simd: no products of blocks here") }

func (l *Layout) Unpack(y []float32, x []byte, scale, plus *[16]float32) {
	l.unpackGo(y, x, scale, plus)
}
