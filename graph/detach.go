package graph

import G "gorgonia.org/gorgonia"

// Detach returns x as a constant: no gradient flows back into it (torch.Tensor.detach).
func Detach(x *G.Node) (*G.Node, error) { return apply(detach{}, x) }

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
