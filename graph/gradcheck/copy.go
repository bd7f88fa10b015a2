package gradcheck

import (
	"fmt"

	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// copier copies the part of a graph that a node depends on into a new graph. The copy
// can be differentiated and its inputs moved without a trace in the original: Gorgonia
// differentiates a node only once and would return the checker's gradients from a later
// call of gorgonia.Grad.
type copier struct {
	from   *G.ExprGraph
	to     *G.ExprGraph
	own    map[*G.Node]*variable // originals whose copies get their own memory
	copies map[*G.Node]*G.Node   // by original
	order  []copied              // each after its children
}

type copied struct {
	node     *G.Node
	children G.Nodes
}

// copyGraph copies the nodes that out depends on to a graph. The inputs in own become variables of
// the copy; the others share their value with the original.
func copyGraph(to *G.ExprGraph, out *G.Node, own map[*G.Node]*variable) (*copier, error) {
	c := &copier{
		// A subgraph, since a graph looks up nodes by an index that is stale once a node
		// was removed.
		from:   out.Graph().ExactSubgraphRoots(out),
		to:     to,
		own:    own,
		copies: map[*G.Node]*G.Node{},
	}
	_, err := c.copy(out)
	return c, err
}

func (c *copier) copy(n *G.Node) (*G.Node, error) {
	if done, ok := c.copies[n]; ok {
		return done, nil
	}
	var children G.Nodes
	for it := c.from.From(n.ID()); it != nil && it.Next(); {
		child, err := c.copy(it.Node().(*G.Node))
		if err != nil {
			return nil, err
		}
		children = append(children, child)
	}
	var node *G.Node
	var err error
	if n.Op() == nil {
		node, err = c.copyInput(n)
	} else {
		node = c.copyOp(n, children)
	}
	if err != nil {
		return nil, err
	}
	c.copies[n] = node
	c.order = append(c.order, copied{node, children})
	return node, nil
}

func (c *copier) copyInput(n *G.Node) (*G.Node, error) {
	node := c.newInput(n)
	if v, ok := c.own[n]; ok {
		return node, v.bind(node)
	}
	if n.Value() == nil {
		return nil, fmt.Errorf("gradcheck: input %s has no value; bind one with gorgonia.Let", expr.InputName(n))
	}
	if err := G.Let(node, n.Value()); err != nil {
		return nil, fmt.Errorf("gradcheck: input %s: %w", expr.InputName(n), err)
	}
	return node, nil
}

// newInput returns an input of like's type and shape.
func (c *copier) newInput(like *G.Node) *G.Node {
	return G.NewUniqueNode(G.In(c.to), G.WithType(like.Type()), G.WithShape(like.Shape()...),
		G.WithName(c.uniqueName(like)))
}

// copyOp returns a node of n's op, type and shape.
func (c *copier) copyOp(n *G.Node, children G.Nodes) *G.Node {
	opts := []G.NodeConsOpt{G.In(c.to), G.WithType(n.Type()), G.WithOp(n.Op()), G.WithChildren(children),
		G.WithShape(n.Shape()...)}
	if len(children) == 0 {
		// A constant or a random input. Gorgonia merges constants by name.
		opts = append(opts, G.WithName(c.uniqueName(n)))
	}
	return G.NewUniqueNode(opts...)
}

// uniqueName returns n's name after a number, since Gorgonia merges inputs of one name
// and shape.
func (c *copier) uniqueName(n *G.Node) string {
	return fmt.Sprintf("%d:%s", len(c.copies), n.Name())
}
