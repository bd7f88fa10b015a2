package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// makeMask keeps the number of lanes beside the vector, because reads and writes depend on the binary digits of this
// number.
func (n neon) makeMask(count reg.GPVirtual, k *mask) {
	g := n.g
	n.test(count)
	n.do("CSEL LT, ZR, %[1]s, %[1]s", count)
	n.use(fmt.Sprintf("MOVD $%d, %s", g.lanes(), spareInt))
	n.use("CMP "+spareInt+", %[1]s", count)
	n.do("CSEL GT, "+spareInt+", %[1]s, %[1]s", count)
	k.n = count
	table := g.GP64()
	n.address(g.leadingLanes(), table)
	n.do(fmt.Sprintf("SUB %%[2]s<<%d, %%[1]s", g.shift), table, count)
	n.load(operand.Mem{Base: table, Disp: g.width}, vec(k.v))
}

func (n neon) read(m operand.Mem, k *mask, to reg.VecPhysical) {
	if k == nil {
		n.load(m, vec(to))
		return
	}
	n.parts(k, n.near(m), partial{
		none: func() { n.zero(to) },
		some: func(instruction string, m operand.Mem) {
			text, registers := n.place(m, 1)
			n.use(fmt.Sprintf("%s %s, F%d", instruction, text, vec(to)), registers...)
		},
		third: func() { n.use(fmt.Sprintf("VLD1 (%s), V%d.S[2]", spareAddress, vec(to))) },
	})
}

func (n neon) write(from reg.VecPhysical, k *mask, m operand.Mem) {
	if k == nil {
		n.store(vec(from), m)
		return
	}
	n.parts(k, n.near(m), partial{
		none: func() {},
		some: func(instruction string, m operand.Mem) {
			text, registers := n.place(m, 1)
			n.use(fmt.Sprintf("%s F%d, %s", instruction, vec(from), text), registers...)
		},
		third: func() { n.use(fmt.Sprintf("VST1 V%d.S[2], (%s)", vec(from), spareAddress)) },
	})
}

// partial writes the code for no lane, for the first lanes that one instruction moves, and for the third lane of three.
type partial struct {
	none  func()
	some  func(instruction string, m operand.Mem)
	third func()
}

// parts does what moves the lanes of a mask.
func (n neon) parts(k *mask, m operand.Mem, p partial) {
	g := n.g
	full, one, done := g.label("full"), g.label("one"), g.label("moved")
	bit := func(b int, instruction, label string) {
		n.branch(fmt.Sprintf("%s $%d, %%[2]s, %%[1]s", instruction, b), label, k.n)
	}
	bit(log2(uint8(g.lanes())), "TBNZ", full)
	p.none()
	if g.single() {
		bit(1, "TBZ", one)
		p.some("FMOVD", m)
		bit(0, "TBZ", done)
		n.use(fmt.Sprintf("ADD $%d, %%[1]s, %s", m.Disp+8, spareAddress), m.Base)
		p.third()
		n.jump(done)
		g.Label(one)
	}
	bit(0, "TBZ", done)
	p.some(n.scalar(), m)
	n.jump(done)
	g.Label(full)
	p.some("FMOVQ", m)
	g.Label(done)
}
