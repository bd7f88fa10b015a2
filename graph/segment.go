package graph

import (
	"attention/internal/dense"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// unpack takes the gradients of nodes out of the vector in which they lie one after the
// other. A nil node has none.
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

// segment is the part of a vector that begins at From, as a tensor of a shape.
type segment struct {
	isGradient
	outShape
	From int
}

func (o segment) spec() spec {
	return spec{name: "Segment", args: named("x"), view: &view{from: o.From}}
}

func (o segment) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return copyFrom(out, in[0], o.From)
}

func copyFrom(out, in *tensor.Dense, from int) error {
	n := out.Shape().TotalSize()
	copy(dense.BytesOf(out, 0, n), dense.BytesOf(in, from, from+n))
	return nil
}
