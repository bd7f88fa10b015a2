package graph

import (
	"math"

	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// ELUPlusOne returns elu(x) + 1, which is x + 1 above 0 and eˣ below: the features of queries and keys of linear
// attention that are weights above 0 (Katharopoulos et al. 2020).
func ELUPlusOne(x *G.Node) (*G.Node, error) {
	var f expr.Formula
	// At the limit itself Clamp passes no gradient, and 0 is not beyond: the limit is the least normal number above it.
	below := f.Of(Exp(f.Of(Clamp(x, math.Inf(-1), 0x1p-126))))
	return f.Result(f.Of(Add(f.Of(ReLU(x)), below)))
}
