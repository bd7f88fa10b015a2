package stock

import (
	"math"
	"strings"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A binaryRow computes z from x and y. Either may be a single number; z may be x or y. Kernels share the work
// themselves; a row without one for a case takes the loop.
type binaryRow[F kernel.Float] struct {
	pairs func(z, x, y []F)   // all of one length
	left  func(z, x []F, y F) // y a number
	right func(z, y []F, x F) // x a number
	of    func(x, y F) F      // the loop
}

// binaries returns the rows of arithmetic by the op's text.
func binaries[F kernel.Float]() map[string]binaryRow[F] {
	return map[string]binaryRow[F]{
		"+": {of: func(x, y F) F { return x + y }, pairs: func(z, x, y []F) { kernel.AddRows(z, x, y) }},
		"-": {of: func(x, y F) F { return x - y }, pairs: kernel.Sub[F]},
		"⊙": {of: func(x, y F) F { return x * y }, pairs: kernel.Mul[F], left: kernel.Scale[F], right: kernel.Scale[F]},
		"÷": {of: func(x, y F) F { return x / y }, pairs: kernel.Div[F]},
		"^": {of: func(x, y F) F { return F(math.Pow(float64(x), float64(y))) }},
	}
}

// comparisons lists the comparisons by the op's text.
func comparisons[F kernel.Float]() map[string]func(x, y F) bool {
	return map[string]func(x, y F) bool{
		"<":  func(x, y F) bool { return x < y },
		">":  func(x, y F) bool { return x > y },
		"<=": func(x, y F) bool { return x <= y },
		">=": func(x, y F) bool { return x >= y },
		"==": func(x, y F) bool { return x == y },
		"!=": func(x, y F) bool { return x != y },
	}
}

// binary returns an op of two inputs of one size, or of which one is a number.
func binary[F kernel.Float](c call) *Op {
	name, _, _ := strings.Cut(c.text, " ") // then whether a comparison returns numbers
	x, y := c.in[0], c.in[1]
	if !isFloat[F](x) || !isFloat[F](y) {
		return nil
	}
	if op := spreading[F](c, name); op != nil {
		return op
	}
	if row, ok := binaries[F]()[name]; ok && isFloat[F](c.node) {
		return arithmetic(c, row)
	}
	compare, ok := comparisons[F]()[name]
	switch {
	case !ok:
		return nil
	case isFloat[F](c.node):
		return arithmetic(c, binaryRow[F]{of: func(x, y F) F {
			if compare(x, y) {
				return 1
			}
			return 0
		}})
	case c.node.Dtype() == tensor.Bool && !c.node.Shape().IsScalar():
		return pairLoop(Loop, nil, bools, compare)
	}
	return nil
}

// arithmetic returns the op of a row.
func arithmetic[F kernel.Float](c call, row binaryRow[F]) *Op {
	// Which inputs the op may compute into: those as large as the result.
	var inPlace []int
	for i, n := range c.in {
		if sameSize(n, c.node) {
			inPlace = append(inPlace, i)
		}
	}
	x, y := c.in[0], c.in[1]
	switch {
	case row.pairs != nil && sameSize(x, y):
		return computes(Kernel, inPlace, func(out G.Value, in []G.Value) {
			row.pairs(floats[F](out), floats[F](in[0]), floats[F](in[1]))
		})
	case row.left != nil && y.Shape().TotalSize() == 1:
		return computes(Kernel, inPlace, func(out G.Value, in []G.Value) {
			row.left(floats[F](out), floats[F](in[0]), floats[F](in[1])[0])
		})
	case row.right != nil && x.Shape().TotalSize() == 1:
		return computes(Kernel, inPlace, func(out G.Value, in []G.Value) {
			row.right(floats[F](out), floats[F](in[1]), floats[F](in[0])[0])
		})
	}
	return pairLoop(Loop, inPlace, floats[F], row.of)
}

// pairLoop returns the op z = f(x, y), element by element; x or y may be a single number.
func pairLoop[R any, F kernel.Float](by By, inPlace []int, elements func(G.Value) []R, f func(x, y F) R) *Op {
	var z []R
	var x, y []F
	part := func(lo, hi int) {
		z := z[lo:hi]
		switch {
		case len(x) == len(y):
			x, y := x[lo:hi], y[lo:hi]
			for i := range z {
				z[i] = f(x[i], y[i])
			}
		case len(y) == 1:
			x, y := x[lo:hi], y[0]
			for i := range z {
				z[i] = f(x[i], y)
			}
		default:
			x, y := x[0], y[lo:hi]
			for i := range z {
				z[i] = f(x, y[i])
			}
		}
	}
	return computes(by, inPlace, func(out G.Value, in []G.Value) {
		z, x, y = elements(out), floats[F](in[0]), floats[F](in[1])
		kernel.Parallel(len(z), loopGrain, part)
	})
}

func bools(v G.Value) []bool { return v.(*tensor.Dense).Bools() }
