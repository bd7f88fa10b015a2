package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A number of bfloat16 is the upper half of a float32. These are what targets do with them.

func (a avx) readBF16(m operand.Mem, to reg.VecPhysical) {
	a.g.VPMOVZXWD(m, to)
	a.toUpperHalves(to, to)
}

func (a avx) toUpperHalves(x, z reg.VecPhysical) { a.g.VPSLLD(operand.U8(16), x, z) }

func (a avx) upperHalves(x reg.VecPhysical) {
	bits := a.g.GP64()
	a.g.MOVL(operand.U32(0xffff<<16), bits.As32())
	a.g.VMOVD(bits.As32(), x.AsX())
	a.broadcast(x.AsX(), x)
}

func (a avx) interleave(x, y, low, high reg.VecPhysical) {
	g := a.g
	if g.masked { // from x and y at the numbers in a vector, y's from 16 on
		g.move(g.words("lowInTurns", inTurns(0)), low)
		g.move(g.words("highInTurns", inTurns(8)), high)
		g.VPERMI2PS(y, x, low)
		g.VPERMI2PS(y, x, high)
		return
	}
	g.VUNPCKHPS(y, x, high)
	g.VUNPCKLPS(y, x, x)
	g.VPERM2F128(operand.U8(0x20), high, x, low)
	g.VPERM2F128(operand.U8(0x31), high, x, high)
}

// inTurns returns the numbers of eight lanes of one vector and of another, in turns.
func inTurns(first uint64) (words []uint64) {
	for i := range uint64(8) {
		words = append(words, first+i|(16+first+i)<<32)
	}
	return words
}

func (n neon) readBF16(m operand.Mem, to reg.VecPhysical) {
	text, registers := n.place(m, 1)
	n.use(fmt.Sprintf("FMOVD %s, F%d", text, vec(to)), registers...)
	n.use(fmt.Sprintf("VUXTL V%d.H4, V%d.S4", vec(to), vec(to)))
	n.toUpperHalves(to, to)
}

func (n neon) toUpperHalves(x, z reg.VecPhysical) {
	n.use(fmt.Sprintf("VSHL $16, V%d.S4, V%d.S4", vec(x), vec(z)))
}

func (n neon) upperHalves(x reg.VecPhysical) {
	n.use(fmt.Sprintf("MOVD $%#x, %s", 0xffff<<16, spareInt))
	n.use(fmt.Sprintf("VDUP %s, V%d.S4", spareInt, vec(x)))
}

func (n neon) interleave(x, y, low, high reg.VecPhysical) {
	n.use(fmt.Sprintf("VZIP1 V%d.S4, V%d.S4, V%d.S4", vec(y), vec(x), vec(low)))
	n.use(fmt.Sprintf("VZIP2 V%d.S4, V%d.S4, V%d.S4", vec(y), vec(x), vec(high)))
}
