package graph

import (
	G "gorgonia.org/gorgonia"
)

// Detach returns x as a constant: no gradient flows back into it (torch.Tensor.detach).
func Detach(x *G.Node) (*G.Node, error) { return apply(detach{}, x) }

// detach returns its input. It is an op because no other op stops a gradient.
type detach struct {
	sameShape
	lastInput
	passesNone
}

func (detach) spec() spec {
	return spec{name: "Detach", args: []arg{{name: "x", fixed: true}}, view: &view{}}
}

// isConstant reports whether no gradient flows through n.
func isConstant(n *G.Node) bool {
	o, ok := n.Op().(op)
	if !ok {
		return false
	}
	_, ok = o.body.(detach)
	return ok
}

// Checkpoint returns x and marks it for a machine (torch.utils.checkpoint.checkpoint; Chen et al. 2016,
// arXiv:1604.06174). The machine keeps x for the backward pass and drops the values computed between x and the next
// mark. The backward pass computes them again from x, with the same bits. A single mark changes nothing, and marks have
// no effect on Gorgonia's own machines.
func Checkpoint(x *G.Node) (*G.Node, error) { return apply(checkpoint{}, x) }

// checkpoint returns its input. It is an op because a machine must find the mark in the graph.
type checkpoint struct {
	sameShape
	lastInput
}

func (checkpoint) spec() spec {
	return spec{name: "Checkpoint", args: named("x"), view: &view{}, checkpoint: true}
}

// y = x:  dx = dy.
func (checkpoint) backward(_ G.Nodes, _, dy *G.Node) (G.Nodes, error) { return G.Nodes{dy}, nil }
