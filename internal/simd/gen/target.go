package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A target writes the instructions of one processor for the steps of kernels. The destination comes last, and of
// two vectors the second is that on the left: sub(y, x, z) is z = x − y. Vectors are registers; a vector that is read
// may also lie in memory, if it comes first.
type target interface {
	// Integers in registers. decrease, countDown, test and check decide the jump that follows.
	set(x, r operand.Op)
	clear(r reg.GPVirtual)
	increase(by, r operand.Op)
	decrease(by, r operand.Op)
	countDown(r operand.Op) // by 1
	shiftLeft(bits, r operand.Op)
	keepBits(bits, r operand.Op)
	times(factor, x, r operand.Op)
	test(r operand.Op) // compares r with 0
	check(r, x operand.Op)
	jump(label string)
	jumpIf(c condition, label string)
	address(m operand.Mem, r operand.Op)
	parameter(name string, r reg.GPVirtual)
	prefetch(m operand.Mem)
	align() // begins a cache line
	leave() // returns from the function

	// Vectors from and to memory.
	move(from, to operand.Op)
	moveFirst(from reg.VecPhysical, to operand.Mem) // the first lane
	broadcast(from, to operand.Op)                  // the first lane to all
	makeMask(n reg.GPVirtual, k *mask)              // see mask
	read(m operand.Mem, k *mask, to reg.VecPhysical)
	write(from reg.VecPhysical, k *mask, m operand.Mem)
	readBF16(m operand.Mem, to reg.VecPhysical)                    // as many bfloat16 as there are lanes, widened
	upperHalves(x reg.VecPhysical)                                 // ones in the upper half of each lane of four bytes
	toUpperHalves(x, z reg.VecPhysical)                            // moves the lower halves there
	interleave(x, y, low, high reg.VecPhysical)                    // the lanes of x and y in turns: x₀, y₀, x₁, y₁, …
	fill(x reg.VecPhysical, value float64)                         // every lane, without the table
	fillInteger(n reg.GPVirtual, x reg.VecPhysical)                // every lane
	sumTo(m operand.Mem, x, t reg.VecPhysical)                     // the sum of all lanes; t is free
	widen(low, high reg.VecPhysical)                               // floats of low to doubles, the second half in high
	narrow(low, high reg.VecPhysical)                              // and back
	hide(lowest, row, lo, hi, t, u reg.VecPhysical, m operand.Mem) // m ← lowest unless lo ≤ row < hi; t, u are scratch

	// Arithmetic.
	zero(x reg.VecPhysical)
	add(y, x, z operand.Op)
	sub(y, x, z operand.Op)
	mul(y, x, z operand.Op)
	div(y, x, z operand.Op)
	max(y, x, z operand.Op) // y or NaN if one is NaN
	min(y, x, z operand.Op)
	greater(y, x, z operand.Op) // y unless x is greater
	sqrt(x, z operand.Op)
	fma(y, x, acc operand.Op)                            // acc + x·y
	fnma(y, x, acc operand.Op)                           // acc − x·y
	chain(terms []operand.Op, x, y reg.VecPhysical)      // y ← y·x + term for each term
	polynomial(terms []operand.Op, x, y reg.VecPhysical) // y ← the first term, and so on
	round(x, z operand.Op)                               // to the nearest integer
	power(n, z reg.VecPhysical)                          // z ← 2ⁿ, a normal number, for an integer n
	twoPowers(n, s reg.VecPhysical)                      // two powers of two whose product is 2ⁿ
	across(op func(y, x, z operand.Op), x, t reg.VecPhysical)

	// Bits.
	and(y, x, z operand.Op)
	or(y, x, z operand.Op)
	bare(sign, x, z operand.Op)      // |x|; the sign is held
	clearWhere(m, x reg.VecPhysical) // sets to 0 where a comparison holds
	shiftRight(bits operand.U8, x, z operand.Op)
	compare(p predicate, y, x, m operand.Op)    // sets m to all ones where "x predicate y"
	blend(m, y, x, z operand.Op)                // y where a comparison m holds, else x
	replaceNegative(sign, x, y reg.VecPhysical) // y ← x where sign is below 0; zero is held
}

// condition is when a jump is taken.
type condition int

const (
	none  condition = iota // 0
	same                   // equal
	other                  // not equal, not 0
	below                  // signed, as the others
	notBelow
	above
	notAbove
)
