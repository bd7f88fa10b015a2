package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Coefficients of (e^r − 1 − r)/r² for |r| ≤ ½·ln 2 with the least greatest relative error of e^r: 3e-9 and 4e-18.
var (
	expSingle = []float64{0.499999934478, 0.166665206318, 0.041668388031, 0.00836871687519, 0.00138145995535}
	expDouble = []float64{0.50000000000000106271, 0.16666666666666412515, 0.041666666666530159088,
		0.0083333333334944675321, 0.0013888888943629988598, 0.00019841269506564000996, 0.000024801493099031572632, 2.7557586388430906473e-6,
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
	a.StaticGlobal(a.letter + "exp")
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
	if a.masked {
		a.StaticGlobal(a.letter + "columns") // the numbers of columns, for dropRows
		a.DataAttributes(attr.RODATA | attr.NOPTR)
		for i := range 8 {
			a.AddDatum(8*i, operand.U64(i))
		}
	}
}

// values returns the constants in the order of names. ln 2 is split so that a product of its high part with an
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

// constants places the constants: in registers from the 16th, or in memory if there are only 16. The bounds always
// get registers: the two given.
func (a *attention) constants(least, most reg.VecPhysical) {
	a.place = map[string]operand.Op{}
	base := a.GP64()
	a.LEAQ(operand.NewDataAddr(operand.NewStaticSymbol(a.letter+"exp"), 0), base)
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
	if !a.masked {
		a.compare(lessThan, a.place["least"], x, small)
	}
	a.reduce(x, n)
	a.polynomial(x, e)
	for range 2 {
		a.either(a.VFMADD213PS, a.VFMADD213PD)(a.place["one"], x, e)
	}
	if a.masked {
		a.either(a.VSCALEFPS, a.VSCALEFPD)(n, e, x)
		return
	}
	a.power(n)
	a.mul(n, e, x)
	a.either(a.VANDNPS, a.VANDNPD)(x, small, x)
}

// reduce turns x, kept inside the bounds, into r and n with x = n·ln 2 + r.
func (a *attention) reduce(x, n reg.VecPhysical) {
	c := a.place
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
}

// polynomial sets e to (e^r − 1 − r)/r².
func (a *attention) polynomial(r, e reg.VecPhysical) {
	last := len(a.coefficients()) - 1
	a.move(a.place["c"+itoa(last)], e)
	for i := last - 1; i >= 0; i-- {
		a.either(a.VFMADD213PS, a.VFMADD213PD)(a.place["c"+itoa(i)], r, e)
	}
}

// power replaces n by 2ⁿ.
func (a *attention) power(n reg.VecPhysical) {
	switch {
	case a.masked:
		a.either(a.VSCALEFPS, a.VSCALEFPD)(n, a.place["one"], n)
	case a.single():
		a.VCVTPS2DQ(n, n)
		a.VPADDD(a.place["bias"], n, n)
		a.VPSLLD(operand.U8(23), n, n)
	default:
		a.VCVTPD2DQY(n, n.AsX())
		a.VPMOVSXDQ(n.AsX(), n)
		a.VPADDQ(a.place["bias"], n, n)
		a.VPSLLQ(operand.U8(52), n, n)
	}
}
