package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vec returns the number of a vector register.
func vec(v operand.Op) int { return int(v.(reg.Physical).PhysicalIndex()) }

// in returns the number of a vector register, or loads a vector of memory.
func (n neon) in(x operand.Op) int {
	if m, ok := x.(operand.Mem); ok {
		n.load(m, spareLoaded)
		return spareLoaded
	}
	return vec(x)
}

func (n neon) load(m operand.Mem, v int) {
	if m.Index != nil && m.Scale == 1 && m.Disp == 0 {
		n.atIndex("LDR", m, v)
		return
	}
	text, registers := n.place(m, 1)
	n.use(fmt.Sprintf("FMOVQ %s, F%d", text, v), registers...)
}

func (n neon) store(v int, m operand.Mem) {
	if m.Index != nil && m.Scale == 1 && m.Disp == 0 {
		n.atIndex("STR", m, v)
		return
	}
	text, registers := n.place(m, 1)
	n.use(fmt.Sprintf("FMOVQ F%d, %s", v, text), registers...)
}

// scalar returns the name of the instruction that moves one number.
func (n neon) scalar() string { return either(n.g, "FMOVS", "FMOVD") }

// copyOf sets register z to x.
func (n neon) copyOf(x operand.Op, z int) {
	switch m := x.(type) {
	case operand.Mem:
		n.load(m, z)
	default:
		if vec(x) != z {
			n.bytes("VMOV", vec(x), z)
		}
	}
}

func (n neon) move(from, to operand.Op) {
	if m, ok := to.(operand.Mem); ok {
		n.store(vec(from), m)
		return
	}
	n.copyOf(from, vec(to))
}

func (n neon) moveFirst(from reg.VecPhysical, to operand.Mem) {
	text, registers := n.place(to, 1)
	n.use(fmt.Sprintf("%s F%d, %s", n.scalar(), vec(from), text), registers...)
}

func (n neon) broadcast(from, to operand.Op) {
	all, one := n.lanes()
	first := vec(to)
	if m, ok := from.(operand.Mem); ok {
		text, registers := n.place(m, 1)
		n.use(fmt.Sprintf("%s %s, F%d", n.scalar(), text, first), registers...)
	} else {
		first = vec(from)
	}
	n.use(fmt.Sprintf("VDUP V%d.%s[0], V%d.%s", first, one, vec(to), all))
}

func (n neon) fill(x reg.VecPhysical, value float64) {
	bits, _ := number(n.g.bits(value))
	all, _ := n.lanes()
	n.use(fmt.Sprintf("MOVD $%#x, %s", uint64(bits), spareInt))
	n.use(fmt.Sprintf("VDUP %s, V%d.%s", spareInt, vec(x), all))
}

func (n neon) fillInteger(i reg.GPVirtual, x reg.VecPhysical) {
	n.use(fmt.Sprintf("%s %%[1]s, F%d", either(n.g, "SCVTFS", "SCVTFD"), vec(x)), i)
	n.broadcast(x, x)
}
