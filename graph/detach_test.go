package graph_test

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// timesDetached returns x⊙detach(x): by itself a detached x has no gradient at all.
func timesDetached(x *G.Node) (*G.Node, error) {
	y, err := graph.Detach(x)
	if err != nil {
		return nil, err
	}
	return graph.Mul(x, y)
}
