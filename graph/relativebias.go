package graph

import (
	"fmt"

	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// ExpandRelativeBias returns a relative bias as a tensor that can be added to scores: bias is (H, T+S−1), or (1, T+S−1)
// if all heads share it, and the result (H, T, S) or (1, T, S) has
//
//	bias[h, t − s + S−1]
//
// for query t and key s: one number for each distance t − s, the smallest first.
func ExpandRelativeBias(bias *G.Node, T, S int) (*G.Node, error) {
	if err := checkLengths("ExpandRelativeBias", T, S); err != nil {
		return nil, err
	}
	in, err := checked("ExpandRelativeBias", named("bias"), bias)
	if err != nil {
		return nil, err
	}
	shape, n := in[0].Shape(), T+S-1
	if shape.Dims() != 2 || shape[1] != n {
		return nil, &ShapeError{"ExpandRelativeBias", "bias", shape, fmt.Sprintf("(H, T+S−1=%d)", n)}
	}
	if err := checkResult("ExpandRelativeBias", tensor.Shape{shape[0], T, S}); err != nil {
		return nil, err
	}
	diagonals := make([]int, 0, T*S)
	for t := range T {
		for s := range S {
			diagonals = append(diagonals, t-s+S-1)
		}
	}
	ids := constantIDs(in[0], fmt.Sprintf("diagonals %d %d", T, S), diagonals)
	var f expr.Formula
	each := f.Of(Embedding(f.Of(Transpose(in[0])), ids)) // (T·S, H)
	return f.Result(f.Of(G.Reshape(f.Of(Transpose(each)), tensor.Shape{shape[0], T, S})))
}

// checkLengths checks the numbers of queries and keys.
func checkLengths(op string, T, S int) error {
	if T < 1 || S < 1 {
		return fmt.Errorf("graph: %s: lengths: got T=%d, S=%d, want at least 1", op, T, S)
	}
	return nil
}
