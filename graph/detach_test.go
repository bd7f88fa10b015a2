package graph_test

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// timesDetached returns x⊙detach(x), because a detached x alone has no gradient at all.
func timesDetached(x *G.Node) (*G.Node, error) {
	y, err := graph.Detach(x)
	if err != nil {
		return nil, err
	}
	return graph.Mul(x, y)
}
