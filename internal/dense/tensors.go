package dense

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Tensors returns the values that nodes have after a run. A scalar's value is an error.
func Tensors(nodes G.Nodes) ([]*tensor.Dense, error) {
	values := make([]*tensor.Dense, len(nodes))
	for i, n := range nodes {
		v, ok := n.Value().(*tensor.Dense)
		if !ok {
			return nil, fmt.Errorf("%v: got a %T, want a tensor", n, n.Value())
		}
		values[i] = v
	}
	return values, nil
}
