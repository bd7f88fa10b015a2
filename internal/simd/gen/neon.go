package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// neon is the target of arm64. An instruction is held as its text, in which %[1]s and so on stand for registers of
// integers: these are avo's for amd64 until they are printed, see registerOf.
type neon struct{ g *generator }

// neonSet keeps 12×2 accumulators in 32 registers. Kernels use 30 of them; targets need two for themselves.
func neonSet() *simd {
	v := []reg.VecPhysical{
		reg.X0, reg.X1, reg.X2, reg.X3, reg.X4, reg.X5, reg.X6, reg.X7,
		reg.X8, reg.X9, reg.X10, reg.X11, reg.X12, reg.X13, reg.X14, reg.X15,
		reg.X16, reg.X17, reg.X18, reg.X19, reg.X20, reg.X21, reg.X22, reg.X23,
		reg.X24, reg.X25, reg.X26, reg.X27, reg.X28, reg.X29,
	}
	return &simd{name: "NEON", file: "neon", processor: "arm64", width: 16, rows: []int{12, 8, 4, 2, 1}, vectors: v,
		target: func(g *generator) target { return neon{g} }}
}

// Registers reserved for the target: two vectors, and integer registers that avo does not know. R18 belongs to the
// operating system, and those from R26 on to Go.
const (
	spare, spareLoaded     = 30, 31
	spareAddress, spareInt = "R19", "R20"
)

// do writes an instruction that reads all of its registers and writes the first one, if it has any.
func (n neon) do(text string, registers ...operand.Op) {
	n.g.Instruction(&ir.Instruction{Opcode: text, Operands: registers, Inputs: registers, Outputs: registers[:min(1,
		len(registers))]})
}

// assign writes an instruction that sets the first of its registers without reading it.
func (n neon) assign(text string, registers ...operand.Op) {
	n.g.Instruction(&ir.Instruction{Opcode: text, Operands: registers, Inputs: registers[1:], Outputs: registers[:1]})
}

// use writes an instruction that sets none of its registers.
func (n neon) use(text string, registers ...operand.Op) {
	n.g.Instruction(&ir.Instruction{Opcode: text, Operands: registers, Inputs: registers})
}

// branch writes a jump, conditional if it is not B. In the text the label is %[1]s.
func (n neon) branch(text, label string, registers ...operand.Op) {
	n.g.Instruction(&ir.Instruction{
		Opcode: text, Operands: append([]operand.Op{operand.LabelRef(label)}, registers...), Inputs: registers,
		IsBranch: true, IsConditional: text != "B %[1]s",
	})
}

// source returns the text of a constant or, with its register, of register number i.
func source(x operand.Op, i int) (string, []operand.Op) {
	if c, ok := number(x); ok {
		return fmt.Sprintf("$%d", c), nil
	}
	return fmt.Sprintf("%%[%d]s", i), []operand.Op{x}
}

// number returns the value of a constant.
func number(x operand.Op) (int64, bool) {
	switch c := x.(type) {
	case operand.U8:
		return int64(c), true
	case operand.U32:
		return int64(c), true
	case operand.U64:
		return int64(c), true
	case operand.I32:
		return int64(c), true
	}
	return 0, false
}

// onto writes an instruction of x and r that sets r.
func (n neon) onto(name string, x, r operand.Op) {
	text, registers := source(x, 2)
	n.do(name+" "+text+", %[1]s", append([]operand.Op{r}, registers...)...)
}

func (n neon) set(x, r operand.Op) {
	text, registers := source(x, 2)
	n.assign("MOVD "+text+", %[1]s", append([]operand.Op{r}, registers...)...)
}

func (n neon) clear(r reg.GPVirtual)        { n.assign("MOVD ZR, %[1]s", r) }
func (n neon) increase(by, r operand.Op)    { n.onto("ADD", by, r) }
func (n neon) decrease(by, r operand.Op)    { n.onto("SUBS", by, r) }
func (n neon) countDown(r operand.Op)       { n.onto("SUBS", operand.U8(1), r) }
func (n neon) shiftLeft(bits, r operand.Op) { n.onto("LSL", bits, r) }
func (n neon) keepBits(bits, r operand.Op)  { n.onto("AND", bits, r) }

func (n neon) times(factor, x, r operand.Op) {
	value, _ := number(factor)
	n.use(fmt.Sprintf("MOVD $%d, %s", value, spareInt))
	n.assign("MUL "+spareInt+", %[2]s, %[1]s", r, x)
}

func (n neon) test(r operand.Op) { n.use("CMP $0, %[1]s", r) }

func (n neon) check(r, x operand.Op) {
	text, registers := source(x, 2)
	n.use("CMP "+text+", %[1]s", append([]operand.Op{r}, registers...)...)
}

func (n neon) jump(label string) { n.branch("B %[1]s", label) }

func (n neon) jumpIf(c condition, label string) {
	n.branch(map[condition]string{none: "BEQ", same: "BEQ", other: "BNE", below: "BLT", notBelow: "BGE", above: "BGT",
		notAbove: "BLE"}[c]+" %[1]s", label)
}

func (n neon) parameter(name string, r reg.GPVirtual) {
	n.assign("MOVD "+inMemory(n.g.Param(name)).Asm()+", %[1]s", r)
}

func (n neon) address(m operand.Mem, r operand.Op) {
	if m.Symbol.Name != "" {
		n.assign("MOVD $"+m.Symbol.String()+"(SB), %[1]s", r)
		return
	}
	n.assign(fmt.Sprintf("ADD %%[3]s<<%d, %%[2]s, %%[1]s", log2(m.Scale)), r, m.Base, m.Index)
	if m.Disp != 0 {
		n.increase(operand.U32(m.Disp), r)
	}
}

func log2(scale uint8) int { return map[uint8]int{1: 0, 2: 1, 4: 2, 8: 3}[scale] }

// prefetch writes nothing for an address with an index: no measurement so far favours prefetching separate streams.
func (n neon) prefetch(m operand.Mem) {
	if m.Index == nil {
		n.use(fmt.Sprintf("PRFM %d(%%[1]s), PLDL2KEEP", m.Disp), m.Base)
	}
}

func (n neon) align() { n.use("PCALIGN $32") }

func (n neon) leave() {
	n.g.Instruction(&ir.Instruction{Opcode: "RET", IsTerminal: true})
}

// place returns the text of a place in memory, and the registers it is made of. There is an offset or an index, and
// the index is in bytes: any other address is computed first.
func (n neon) place(m operand.Mem, first int) (string, []operand.Op) {
	switch {
	case m.Symbol.Name != "":
		return m.Asm(), nil
	case m.Index == nil:
		return fmt.Sprintf("%d(%%[%d]s)", m.Disp, first), []operand.Op{m.Base}
	case m.Scale == 1 && m.Disp == 0:
		return fmt.Sprintf("(%%[%d]s)(%%[%d]s)", first, first+1), []operand.Op{m.Base, m.Index}
	}
	n.use(fmt.Sprintf("ADD %%[2]s<<%d, %%[1]s, %s", log2(m.Scale), spareAddress), m.Base, m.Index)
	return fmt.Sprintf("%d(%s)", m.Disp, spareAddress), nil
}

// near returns a place with an offset, so that the places behind it are reached from the same register.
func (n neon) near(m operand.Mem) operand.Mem {
	if m.Index == nil {
		return m
	}
	r := n.g.GP64()
	n.address(m, r)
	return operand.Mem{Base: r}
}
