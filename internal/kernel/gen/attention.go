package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// attentionFunctions writes what happens to a tile of attention scores between its products. All of them
// handle whole vectors: a tile has room for them, and what lies behind its columns is of no interest.
func (g *generator) attentionFunctions() {
	a := &attention{generator: g}
	a.makeTable()
	a.maxColumns()
	a.expColumns()
	a.hideColumns()
	a.gradientRows()
	if g.masked {
		a.dropRows()
	}
}

// attention is the state of these functions: where they find their constants.
type attention struct {
	*generator
	table string
	place map[string]operand.Op
}

// Coefficients of (e^r − 1 − r)/r² for |r| ≤ ½·ln 2 with the least greatest relative error of e^r: 3e-9 and 4e-18.
var (
	expSingle = []float64{0.499999934478, 0.166665206318, 0.041668388031, 0.00836871687519, 0.00138145995535}
	expDouble = []float64{0.50000000000000106271, 0.16666666666666412515, 0.041666666666530159088, 0.0083333333334944675321,
		0.0013888888943629988598, 0.00019841269506564000996, 0.000024801493099031572632, 2.7557586388430906473e-6,
		2.7630248335740688652e-7, 2.5000056603522819237e-8}
)

func (a *attention) coefficients() []float64 {
	if a.single() {
		return expSingle
	}
	return expDouble
}

// makeTable writes the constants of exp, each as a whole vector.
func (a *attention) makeTable() {
	a.table = a.letter + "exp"
	a.StaticGlobal(a.table)
	a.DataAttributes(attr.RODATA | attr.NOPTR)
	values := a.values()
	for i, v := range values {
		for lane := range a.lanes() {
			at := i*a.width + lane*a.size
			if a.single() {
				a.AddDatum(at, operand.U32(math.Float32bits(float32(v))))
			} else {
				a.AddDatum(at, operand.U64(math.Float64bits(v)))
			}
		}
	}
	// The bias of the exponent, for instruction sets that cannot scale by powers of 2.
	for lane := range a.lanes() {
		at := len(values)*a.width + lane*a.size
		if a.single() {
			a.AddDatum(at, operand.U32(127))
		} else {
			a.AddDatum(at, operand.U64(1023))
		}
	}
}

// values is the constants in the order of names. ln 2 is split so that a product of its high part with an
// integer exponent is exact.
func (a *attention) values() []float64 {
	const (
		high32 = 0x1.62e4p-1 // 15 bits of ln 2, and 32
		high64 = 0x1.62e42feep-1
	)
	bounds, ln2 := []float64{-87.33654, 88}, []float64{high32, math.Ln2 - high32}
	if !a.single() {
		bounds, ln2 = []float64{-708.3964, 709}, []float64{high64, math.Ln2 - high64}
	}
	if a.masked { // what is below the smallest normal number is rounded, as far as to 0
		bounds[0] = map[bool]float64{true: -110, false: -760}[a.single()]
	}
	values := append(bounds, math.Log2E)
	values = append(values, ln2...)
	return append(append(values, 1), a.coefficients()...)
}

func (a *attention) names() []string {
	names := []string{"least", "most", "log2e", "high", "low", "one"}
	for i := range a.coefficients() {
		names = append(names, "c"+itoa(i))
	}
	return append(names, "bias")
}

// constants says where the constants are: in registers from the 16th, or in memory if there are no so many.
// The bounds always get registers: the two given.
func (a *attention) constants(least, most reg.VecPhysical) {
	a.place = map[string]operand.Op{}
	base := a.GP64()
	a.LEAQ(operand.NewDataAddr(operand.NewStaticSymbol(a.table), 0), base)
	for i, name := range a.names() {
		m := operand.Mem{Base: base, Disp: i * a.width}
		switch {
		case name == "least":
			a.move(m, least)
			a.place[name] = least
		case name == "most":
			a.move(m, most)
			a.place[name] = most
		case a.masked && name != "bias":
			a.move(m, a.vectors[16+i-2])
			a.place[name] = a.vectors[16+i-2]
		default:
			a.place[name] = m
		}
	}
}

// exp replaces x by e^x for x up to 88 or 709, with three more registers. NaN stays NaN and −∞ becomes 0.
//
//	x = n·ln 2 + r:  e^x = 2ⁿ·e^r
func (a *attention) exp(x, n, e, small reg.VecPhysical) {
	c := a.place
	if !a.masked {
		a.compare(lessThan, a.constantIn("least"), x, small)
	}
	// With a NaN, the result of these is what comes first here.
	a.either(a.VMAXPS, a.VMAXPD)(x, c["least"], x)
	if !a.masked {
		a.either(a.VMINPS, a.VMINPD)(x, c["most"], x)
	}
	a.mul(c["log2e"], x, n)
	switch {
	case a.masked:
		a.either(a.VRNDSCALEPS, a.VRNDSCALEPD)(operand.U8(8), n, n)
	case a.single():
		a.VROUNDPS(operand.U8(8), n, n)
	default:
		a.VROUNDPD(operand.U8(8), n, n)
	}
	a.either(a.VFNMADD231PS, a.VFNMADD231PD)(c["high"], n, x)
	a.either(a.VFNMADD231PS, a.VFNMADD231PD)(c["low"], n, x)
	last := len(a.coefficients()) - 1
	a.move(c["c"+itoa(last)], e)
	for i := last - 1; i >= -2; i-- {
		k := c["one"]
		if i >= 0 {
			k = c["c"+itoa(i)]
		}
		a.either(a.VFMADD213PS, a.VFMADD213PD)(k, x, e)
	}
	switch {
	case a.masked:
		a.either(a.VSCALEFPS, a.VSCALEFPD)(n, e, x)
		return
	case a.single():
		a.VCVTPS2DQ(n, n)
		a.VPADDD(c["bias"], n, n)
		a.VPSLLD(operand.U8(23), n, n)
	default:
		a.VCVTPD2DQY(n, n.AsX())
		a.VPMOVSXDQ(n.AsX(), n)
		a.VPADDQ(c["bias"], n, n)
		a.VPSLLQ(operand.U8(52), n, n)
	}
	a.mul(n, e, x)
	a.either(a.VANDNPS, a.VANDNPD)(x, small, x)
}

func (a *attention) constantIn(name string) operand.Op { return a.place[name] }

// Predicates of comparisons: ordered for less, and true for NaN where it says so.
const (
	lessThan      = operand.U8(0x11)
	notEqualOrNaN = operand.U8(0x04)
	notLessOrNaN  = operand.U8(0x15)
)

// compare sets m to all ones where "x predicate y".
func (a *attention) compare(predicate operand.U8, y, x, m operand.Op) {
	a.either(a.VCMPPS, a.VCMPPD)(predicate, y, x, m)
}

// either chooses the instruction for the type of the elements.
func (g *generator) either(single, double func(...operand.Op)) func(...operand.Op) {
	if g.single() {
		return single
	}
	return double
}

// begin opens a function whose parameters are all integers, pointers or numbers, and loads the integers and
// pointers. What is named ld becomes bytes.
func (a *attention) begin(name, signature string, doc []string, params ...string) []reg.GPVirtual {
	full := a.letter + name + a.name
	a.Function(full)
	doc[0] = full + " " + doc[0]
	a.Doc(doc...)
	a.Pragma("noescape")
	a.SignatureExpr("func(" + signature + ")")
	var regs []reg.GPVirtual
	for _, p := range params {
		r := a.GP64()
		a.Load(a.Param(p), r)
		if p == "ld" {
			a.SHLQ(a.shift, r)
		}
		regs = append(regs, r)
	}
	return regs
}

// columns goes over n columns, one vector at a time, and inside over the rows. Between, before sets up and
// after finishes a column; advance are pointers that go along with the columns.
func (a *attention) columns(rows, n, x, ld reg.GPVirtual, advance []reg.GPVirtual, before func(), row func(operand.Mem), after func()) {
	column, line := a.label("column"), a.label("row")
	at, left := a.GP64(), a.GP64()
	a.Label(column)
	before()
	a.MOVQ(x, at)
	a.MOVQ(rows, left)
	a.Label(line)
	row(operand.Mem{Base: at})
	a.ADDQ(ld, at)
	a.DECQ(left)
	a.JNE(operand.LabelRef(line))
	after()
	for _, p := range append(advance, x) {
		a.ADDQ(operand.U32(a.width), p)
	}
	a.SUBQ(operand.U32(a.lanes()), n)
	a.JGT(operand.LabelRef(column))
	a.VZEROUPPER()
	a.RET()
}

func (a *attention) maxColumns() {
	f := a.typ
	r := a.begin("maxColumns", "rows, n int, x *"+f+", ld int, top *"+f,
		[]string{"writes the maximum of each of n ≥ 1 columns of rows ≥ 1 rows to top. A NaN may get lost."}, "rows", "n", "x", "ld", "top")
	top, v := r[4], a.vectors
	a.columns(r[0], r[1], r[2], r[3], []reg.GPVirtual{top},
		func() { a.move(operand.Mem{Base: r[2]}, v[0]) },
		func(m operand.Mem) { a.either(a.VMAXPS, a.VMAXPD)(m, v[0], v[0]) },
		func() { a.move(v[0], operand.Mem{Base: top}) })
}

func (a *attention) expColumns() {
	f := a.typ
	r := a.begin("expColumns", "rows, n int, x *"+f+", ld int, shift, sum *"+f,
		[]string{"sets x ← exp(x − shift) with one shift for each of n ≥ 1 columns of rows ≥ 1 rows, and adds", "each column to sum."}, "rows", "n", "x", "ld", "shift", "sum")
	shift, sum, v := r[4], r[5], a.vectors
	a.constants(v[6], v[7])
	a.columns(r[0], r[1], r[2], r[3], []reg.GPVirtual{shift, sum},
		func() {
			a.move(operand.Mem{Base: shift}, v[0])
			a.move(operand.Mem{Base: sum}, v[1])
		},
		func(m operand.Mem) {
			a.move(m, v[2])
			a.either(a.VSUBPS, a.VSUBPD)(v[0], v[2], v[2])
			a.exp(v[2], v[3], v[4], v[5])
			a.move(v[2], m)
			a.add(v[2], v[1], v[1])
		},
		func() { a.move(v[1], operand.Mem{Base: sum}) })
}

func (a *attention) hideColumns() {
	f := a.typ
	r := a.begin("hideColumns", "rows, n int, x *"+f+", ld int, lo, hi *"+f,
		[]string{"sets to −∞ what lies outside the rows lo ≤ row < hi of each of n ≥ 1 columns of rows ≥ 1 rows."}, "rows", "n", "x", "ld", "lo", "hi")
	lo, hi, v := r[4], r[5], a.vectors
	one, row, lowest := v[2], v[3], v[4]
	a.fill(one, 1)
	a.fill(lowest, math.Inf(-1))
	a.columns(r[0], r[1], r[2], r[3], []reg.GPVirtual{lo, hi},
		func() {
			a.move(operand.Mem{Base: lo}, v[0])
			a.move(operand.Mem{Base: hi}, v[1])
			a.zero(row)
		},
		func(m operand.Mem) {
			if a.masked {
				a.compare(lessThan, v[0], row, reg.K1)
				a.compare(notLessOrNaN, v[1], row, reg.K2)
				a.KORW(reg.K1, reg.K2, reg.K1)
				a.either(a.VMOVUPS, a.VMOVUPD)(lowest, reg.K1, m)
			} else {
				a.compare(lessThan, v[0], row, v[5])
				a.compare(notLessOrNaN, v[1], row, v[6])
				a.VORPS(v[5], v[6], v[5])
				a.move(m, v[6])
				a.VBLENDVPS(v[5], lowest, v[6], v[6])
				a.move(v[6], m)
			}
			a.add(one, row, row)
		},
		func() {})
}

// fill sets every lane to a constant.
func (a *attention) fill(v reg.VecPhysical, x float64) {
	bits := a.GP64()
	if a.single() {
		a.MOVL(operand.U32(math.Float32bits(float32(x))), bits.As32())
		a.VMOVD(bits.As32(), v.AsX())
		a.VBROADCASTSS(v.AsX(), v)
		return
	}
	a.MOVQ(operand.U64(math.Float64bits(x)), bits)
	a.VMOVQ(bits, v.AsX())
	a.VBROADCASTSD(v.AsX(), v)
}

func (a *attention) gradientRows() {
	f := a.typ
	r := a.begin("gradientRows", "rows, n int, p, dp *"+f+", ld int, shift, delta *"+f,
		[]string{"sets p ← exp(p − shift) and dp ← p·(dp − delta), with one shift and delta for each of", "rows ≥ 1 rows of n ≥ 1 columns; dp ← 0 where p becomes 0."},
		"rows", "p", "dp", "ld", "shift", "delta")
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
	f := a.typ
	r := a.begin("dropRows", "rows, n int, x *"+f+", ld int, start *uint64, columnStep, rowStep, below uint64, scale "+f,
		[]string{"multiplies by scale, or sets to 0 where mix(start + row·rowStep + column·columnStep) < below,",
			"the elements of rows ≥ 1 rows of n ≥ 1 columns. start has the first eight columns."},
		"rows", "x", "ld", "columnStep", "rowStep")
	rows, x, ld, columnStep, rowStep, v := r[0], r[1], r[2], r[3], r[4], a.vectors
	start, at, z, shifted, below, scale, m1, m2 := v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]
	stepRow, stepColumns := v[8], v[9]
	p := a.GP64()
	a.Load(a.Param("start"), p)
	a.VMOVDQU64(operand.Mem{Base: p}, start)
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
