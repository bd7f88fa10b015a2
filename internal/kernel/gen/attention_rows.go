package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func (a *attention) gradientRows() {
	r := a.load("rows", "x", "dx", "ld", "shift", "delta")
	rows, p, dp, ld, shift, delta, v := r[0], r[1], r[2], r[3], r[4], r[5], a.vectors
	a.constants(v[6], v[7])
	zero := v[8]
	a.zero(zero)
	line, column := a.label("row"), a.label("column")
	at, left := a.GP64(), a.GP64()
	a.Label(line)
	a.broadcast(operand.Mem{Base: shift}, v[0])
	a.broadcast(operand.Mem{Base: delta}, v[1])
	a.XORQ(at, at)
	a.Load(a.Param("n"), left)
	a.Label(column)
	weights, gradients := operand.Mem{Base: p, Index: at, Scale: 1}, operand.Mem{Base: dp, Index: at, Scale: 1}
	a.move(weights, v[2])
	a.either(a.VSUBPS, a.VSUBPD)(v[0], v[2], v[2])
	a.exp(v[2], v[3], v[4], v[5])
	a.move(v[2], weights)
	a.move(gradients, v[3])
	a.either(a.VSUBPS, a.VSUBPD)(v[1], v[3], v[3])
	if a.masked {
		a.compare(notEqualOrNaN, zero, v[2], reg.K1)
		if a.single() {
			a.VMULPS_Z(v[3], v[2], reg.K1, v[3])
		} else {
			a.VMULPD_Z(v[3], v[2], reg.K1, v[3])
		}
	} else {
		a.compare(notEqualOrNaN, zero, v[2], v[4])
		a.mul(v[3], v[2], v[3])
		a.VANDPS(v[4], v[3], v[3])
	}
	a.move(v[3], gradients)
	a.ADDQ(operand.U32(a.width), at)
	a.SUBQ(operand.U32(a.lanes()), left)
	a.JGT(operand.LabelRef(column))
	a.ADDQ(ld, p)
	a.ADDQ(ld, dp)
	a.ADDQ(operand.U32(a.size), shift)
	a.ADDQ(operand.U32(a.size), delta)
	a.DECQ(rows)
	a.JNE(operand.LabelRef(line))
	a.VZEROUPPER()
	a.RET()
}

// dropRows makes the mask of SplitMix64 eight numbers at a time.
func (a *attention) dropRows() {
	r := a.load("rows", "x", "ld", "columnStep", "rowStep")
	rows, x, ld, columnStep, rowStep, v := r[0], r[1], r[2], r[3], r[4], a.vectors
	start, at, z, shifted, below, scale, m1, m2 := v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]
	stepRow, stepColumns := v[8], v[9]
	p := a.GP64()
	a.LEAQ(operand.NewDataAddr(operand.NewStaticSymbol(a.letter+"columns"), 0), p)
	a.VPBROADCASTQ(columnStep, stepColumns)
	a.VPMULLQ(operand.Mem{Base: p}, stepColumns, stepColumns)
	a.VPBROADCASTQ(a.paramAddress("start"), start)
	a.VPADDQ(stepColumns, start, start) // of the first eight columns
	a.VPBROADCASTQ(rowStep, stepRow)
	a.SHLQ(operand.U8(3), columnStep)
	a.VPBROADCASTQ(columnStep, stepColumns)
	a.VPBROADCASTQ(a.paramAddress("below"), below)
	a.broadcast(a.paramAddress("scale"), scale)
	for _, c := range []struct {
		v reg.VecPhysical
		c uint64
	}{{m1, 0xbf58476d1ce4e5b9}, {m2, 0x94d049bb133111eb}} {
		a.MOVQ(operand.U64(c.c), p)
		a.VPBROADCASTQ(p, c.v)
	}
	keep := func(k reg.OpmaskPhysical) {
		a.VPSRLQ(operand.U8(30), at, shifted)
		a.VPXORQ(at, shifted, z)
		a.VPMULLQ(m1, z, z)
		a.VPSRLQ(operand.U8(27), z, shifted)
		a.VPXORQ(z, shifted, z)
		a.VPMULLQ(m2, z, z)
		a.VPSRLQ(operand.U8(31), z, shifted)
		a.VPXORQ(z, shifted, z)
		a.VPCMPUQ(operand.U8(5), below, z, k)
		a.VPADDQ(stepColumns, at, at)
	}
	line, column := a.label("row"), a.label("column")
	place, left := a.GP64(), a.GP64()
	a.Label(line)
	a.VMOVDQA64(start, at)
	a.MOVQ(x, place)
	a.Load(a.Param("n"), left)
	a.Label(column)
	keep(reg.K1)
	m := operand.Mem{Base: place}
	if a.single() {
		keep(reg.K2)
		a.KUNPCKBW(reg.K1, reg.K2, reg.K1)
		a.VMOVUPS_Z(m, reg.K1, v[10])
	} else {
		a.VMOVUPD_Z(m, reg.K1, v[10])
	}
	a.mul(scale, v[10], v[10])
	a.move(v[10], m)
	a.ADDQ(operand.U32(a.width), place)
	a.SUBQ(operand.U32(a.lanes()), left)
	a.JGT(operand.LabelRef(column))
	a.VPADDQ(stepRow, start, start)
	a.ADDQ(ld, x)
	a.DECQ(rows)
	a.JNE(operand.LabelRef(line))
	a.VZEROUPPER()
	a.RET()
}

// capRows computes tanh by way of e^y − 1, which loses no digits near 0.
//
//	tanh|u| = −E/(E + 2)  with E = e^(−2|u|) − 1 = 2ⁿ·(e^r − 1) + (2ⁿ − 1)
func (a *attention) capRows() {
	r := a.load("rows", "x", "ld", "slope")
	rows, x, ld, slope, v := r[0], r[1], r[2], r[3], a.vectors
	a.constants(v[6], v[7])
	cap, sign, minusTwo := v[8], v[9], v[10]
	a.broadcast(a.paramAddress("c"), cap)
	a.fill(sign, math.Copysign(0, -1))
	a.fill(minusTwo, -2)
	y, n, e, u := v[0], v[1], v[2], v[3]
	line, column, next := a.label("row"), a.label("column"), a.label("next")
	at, left := a.GP64(), a.GP64()
	a.Label(line)
	a.XORQ(at, at)
	a.Load(a.Param("n"), left)
	a.Label(column)
	m := operand.Mem{Base: x, Index: at, Scale: 1}
	a.move(m, u)
	a.either(a.VDIVPS, a.VDIVPD)(cap, u, u)
	a.bits(a.VPANDND, a.VANDNPS)(u, sign, y)
	a.mul(minusTwo, y, y)
	a.reduce(y, n)
	a.polynomial(y, e)
	a.power(n)
	a.mul(y, e, e)
	a.either(a.VFMADD213PS, a.VFMADD213PD)(y, y, e) // e^r − 1
	a.either(a.VSUBPS, a.VSUBPD)(a.place["one"], n, y)
	a.either(a.VFMADD213PS, a.VFMADD213PD)(y, n, e) // E
	a.either(a.VSUBPS, a.VSUBPD)(minusTwo, e, y)
	a.either(a.VDIVPS, a.VDIVPD)(y, e, e) // −tanh|u|, or +0
	a.bits(a.VPANDND, a.VANDNPS)(e, sign, e)
	a.bits(a.VPANDD, a.VANDPS)(sign, u, u)
	a.bits(a.VPORD, a.VORPS)(u, e, e)
	a.mul(cap, e, u)
	a.move(u, m)
	a.TESTQ(slope, slope)
	a.JEQ(operand.LabelRef(next))
	a.zero(y)
	a.add(a.place["one"], y, y)
	a.either(a.VFNMADD231PS, a.VFNMADD231PD)(e, e, y)
	a.move(y, operand.Mem{Base: slope, Index: at, Scale: 1})
	a.Label(next)
	a.ADDQ(operand.U32(a.width), at)
	a.SUBQ(operand.U32(a.lanes()), left)
	a.JGT(operand.LabelRef(column))
	a.ADDQ(ld, x)
	done := a.label("next")
	a.TESTQ(slope, slope)
	a.JEQ(operand.LabelRef(done))
	a.ADDQ(ld, slope)
	a.Label(done)
	a.DECQ(rows)
	a.JNE(operand.LabelRef(line))
	a.VZEROUPPER()
	a.RET()
}

// bits chooses the instruction for whole registers of bits.
func (a *attention) bits(masked, other func(...operand.Op)) func(...operand.Op) {
	if a.masked {
		return masked
	}
	return other
}
