package graph

import (
	G "gorgonia.org/gorgonia"
)

// unpack cuts the gradients of nodes out of the vector that holds them side by side. A nil
// node has none.
func unpack(grads *G.Node, of G.Nodes) (G.Nodes, error) {
	parts, from := make(G.Nodes, len(of)), 0
	for i, n := range of {
		if n == nil {
			continue
		}
		var err error
		if parts[i], err = apply(segment{outShape: outShape{n.Shape()}, From: from}, grads); err != nil {
			return nil, err
		}
		from += n.Shape().TotalSize()
	}
	return parts, nil
}
