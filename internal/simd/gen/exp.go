package main

import (
	"math"
	"slices"
	"strconv"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Coefficients of (e^r − 1 − r)/r² for |r| ≤ ½·ln 2 that minimize the largest relative error of e^r: 3e-9 and 4e-18.
var (
	expSingle = []float64{0.499999934478, 0.166665206318, 0.041668388031, 0.00836871687519, 0.00138145995535}
	expDouble = []float64{
		0.50000000000000106271, 0.16666666666666412515, 0.041666666666530159088, 0.0083333333334944675321,
		0.0013888888943629988598, 0.00019841269506564000996, 0.000024801493099031572632, 2.7557586388430906473e-6,
		2.7630248335740688652e-7, 2.5000056603522819237e-8,
	}
)

// expConstants returns the constants of the exponential inside the given bounds. ln 2 is split so that the product of
// its high part with an integer exponent is exact. others are inserted between the bounds and the coefficients.
func (g *generator) expConstants(least, most float64, others ...constant) []constant {
	const (
		high32 = 0x1.62e4p-1 // 15 bits of ln 2, and 32
		high64 = 0x1.62e42feep-1
	)
	first := []constant{
		{"least", least}, {"most", most},
		{"log2e", math.Log2E},
		{"high", either(g, high32, high64)}, {"low", either(g, math.Ln2-high32, math.Ln2-high64)},
		{"one", 1},
	}
	return slices.Concat(first, others, numbered("c", either(g, expSingle, expDouble)))
}

// exponentBias is a number whose bits are the bias of the exponent.
func (g *generator) exponentBias() constant {
	return constant{"bias", either(g, float64(math.Float32frombits(127)), math.Float64frombits(1023))}
}

// holdExp loads the constants of exp into registers: all if there are enough, otherwise only the bounds, which must be
// in registers.
func (g *generator) holdExp(least, most reg.VecPhysical) {
	g.hold("least", least)
	g.hold("most", most)
	if len(g.vectors) <= 16 {
		return
	}
	names := []string{"log2e", "high", "low", "one"}
	for _, c := range numbered("c", either(g, expSingle, expDouble)) {
		names = append(names, c.name)
	}
	for i, name := range names {
		g.hold(name, g.vectors[16+i])
	}
}

// reduce splits x into n·ln 2 + r with |r| ≤ ½·ln 2, leaves r in x, and sets e to (e^r − 1 − r)/r².
func (g *generator) reduce(x, n, e reg.VecPhysical) {
	g.mul(g.constant("log2e"), x, n)
	g.round(n, n)
	g.fnma(g.constant("high"), n, x)
	g.fnma(g.constant("low"), n, x)
	g.polynomial(g.coefficients("c", len(either(g, expSingle, expDouble))), x, e)
}

// coefficients returns n numbered constants, the last of them first.
func (g *generator) coefficients(name string, n int) []operand.Op {
	var terms []operand.Op
	for i := n - 1; i >= 0; i-- {
		terms = append(terms, g.constant(name+strconv.Itoa(i)))
	}
	return terms
}
