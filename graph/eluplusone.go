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
	below := f.Of(Exp(f.Of(Clamp(x, math.Inf(-1), 0))))
	return f.Result(f.Of(Add(f.Of(ReLU(x)), below)))
}
