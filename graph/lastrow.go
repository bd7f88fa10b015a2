package graph

import G "gorgonia.org/gorgonia"

// LastRow returns the last row of each matrix of x (…, T, E), as (…, E): x[..., -1, :].
// A language model needs no other to predict the next token.
func LastRow(x *G.Node) (*G.Node, error) {
	if err := checkArgs("LastRow", named("x"), G.Nodes{x}); err != nil {
		return nil, err
	}
	shape := x.Shape()
	n := shape.Dims()
	if n < 2 {
		return nil, &ShapeError{"LastRow", "x", shape, "(…, T, E)"}
	}
	T, e := shape[n-2], shape[n-1]
	to := append(shape[:n-2].Clone(), e)
	return takePart(x, part{"LastRow", to, T * e, span{(T - 1) * e, e}})
}
