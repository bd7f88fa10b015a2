package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
)

// Instructions of vectors that Go's assembler has no name for, as in the Arm Architecture Reference Manual, chapter C7,
// with zeros for the registers. What is a word in the assembly has the instruction beside it as a comment.
var words = map[string]uint32{
	// Of three vectors. Those of numbers are of floats; doubles set bit 22.
	"FADD": 0x4e20d400, "FSUB": 0x4ea0d400, "FMUL": 0x6e20dc00, "FDIV": 0x6e20fc00,
	"FMAX": 0x4e20f400, "FMIN": 0x4ea0f400,
	"FCMEQ": 0x4e20e400, "FCMGE": 0x6e20e400, "FCMGT": 0x6ea0e400,
	"BIC": 0x4e601c00,
	// Of two.
	"FSQRT": 0x6ea1f800, "FRINTN": 0x4e218800, "FRINTM": 0x4e219800, "FRINTP": 0x4ea18800,
	"FCVTNS": 0x4e21a800,
	"CMLT":   0x4ea0a800, // with 0
	"MVN":    0x6e205800,
	"FCVTL":  0x0e617800, "FCVTL2": 0x4e617800, "FCVTN": 0x0e616800, "FCVTN2": 0x4e616800,
	// With an element of the second vector, or a number of bits, in the bits from 16 on.
	"FMLA": 0x4f801000,
	"SSHR": 0x4f000400,
	// Between memory and a vector, at the sum of two registers.
	"LDR": 0x3ce06800, "STR": 0x3ca06800,
}

const isDouble = 1 << 22

// word writes an instruction as a word.
func (n neon) word(code uint32, text string) { n.use(fmt.Sprintf("WORD $0x%08x // %s", code, text)) }

// shape returns how the disassembler names the lanes, and the bit that marks doubles.
func (n neon) shape() (string, uint32) {
	if n.g.single() {
		return "4S", 0
	}
	return "2D", isDouble
}

// three writes z ← x op y for numbers.
func (n neon) three(name string, y, x, z int) {
	lanes, double := n.shape()
	n.word(words[name]|double|uint32(y<<16|x<<5|z), fmt.Sprintf("%s V%d.%s, V%d.%s, V%d.%s", name, z, lanes, x, lanes,
		y, lanes))
}

// two writes z ← op x for numbers.
func (n neon) two(name string, x, z int) {
	lanes, double := n.shape()
	tail := ""
	if name == "CMLT" {
		tail = ", #0"
	}
	n.word(words[name]|double|uint32(x<<5|z), fmt.Sprintf("%s V%d.%s, V%d.%s%s", name, z, lanes, x, lanes, tail))
}

// convert writes the instructions between floats and doubles, which name the lanes of each.
func (n neon) convert(name, to, from string, x, z int) {
	n.word(words[name]|uint32(x<<5|z), fmt.Sprintf("%s V%d.%s, V%d.%s", name, z, to, x, from))
}

func (n neon) not(x, z int) {
	n.word(words["MVN"]|uint32(x<<5|z), fmt.Sprintf("MVN V%d.16B, V%d.16B", z, x))
}

// clearBits writes z ← x without the bits of m.
func (n neon) clearBits(m, x, z int) {
	n.word(words["BIC"]|uint32(m<<16|x<<5|z), fmt.Sprintf("BIC V%d.16B, V%d.16B, V%d.16B", z, x, m))
}

// halve writes z ← x/2 for integers, rounded down.
func (n neon) halve(x, z int) {
	lanes, _ := n.shape()
	bits := uint32(16*n.g.size - 1)
	n.word(words["SSHR"]|bits<<16|uint32(x<<5|z), fmt.Sprintf("SSHR V%d.%s, V%d.%s, #1", z, lanes, x, lanes))
}

// fmaElement writes acc ← acc + x·y, where y is one element of a vector.
func (n neon) fmaElement(y, element, x, acc int) {
	lanes, double := n.shape()
	index := uint32(element&1<<21 | element>>1<<11)
	if double != 0 {
		index = uint32(element << 11)
	}
	n.word(words["FMLA"]|double|index|uint32(y<<16|x<<5|acc), fmt.Sprintf("FMLA V%d.%s, V%d.%s, V%d.%s[%d]", acc, lanes,
		x, lanes, y, lanes[1:], element))
}

// indexed is the name of the instructions whose words are made when their registers are known.
const indexed = "INDEXED "

// atIndex writes a load or a store of a vector at the sum of two registers.
func (n neon) atIndex(name string, m operand.Mem, v int) {
	n.use(fmt.Sprintf("%s%s %d", indexed, name, v), m.Base, m.Index)
}

// indexedWord returns the text of what atIndex wrote.
func indexedWord(text string, base, index int) string {
	var name string
	var v int
	fmt.Sscanf(text, indexed+"%s %d", &name, &v)
	code := words[name] | uint32(index<<16|base<<5|v)
	return fmt.Sprintf("WORD $0x%08x // %s Q%d, [X%d,X%d]", code, name, v, base, index)
}
