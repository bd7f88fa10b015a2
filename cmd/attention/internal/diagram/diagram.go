// Package diagram draws expression graphs, with a box for each node. Parameters have a colour of their own.
package diagram

import (
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
)

// Kind is the kind of a node.
type Kind int

const (
	Op     Kind = iota // computed from its inputs
	Learnt             // a parameter
	Input              // neither computed nor learnt
)

// Node is a box of a diagram.
type Node struct {
	Label string
	Shape string // the second line
	Kind  Kind
	In    []int // indices of the nodes that it is computed from, each once
}

// Diagram is a graph to draw. A node comes after the nodes that it is computed from.
type Diagram struct {
	Title string
	Nodes []Node
}

// Of returns the graph that a node is computed by. The node is the last one of the diagram.
func Of(title string, out *G.Node, learnables G.Nodes) Diagram {
	d := Diagram{Title: title}
	index := map[int64]int{}
	var visit func(n *G.Node) int
	visit = func(n *G.Node) int {
		if i, ok := index[n.ID()]; ok {
			return i
		}
		node := Node{Label: n.Name(), Shape: fmt.Sprint(n.Shape()), Kind: Input}
		for it := n.Graph().From(n.ID()); it != nil && it.Next(); {
			if i := visit(it.Node().(*G.Node)); !slices.Contains(node.In, i) {
				node.In = append(node.In, i)
			}
		}
		if slices.Contains(learnables, n) {
			node.Kind = Learnt
		} else if op := n.Op(); op != nil {
			node.Kind, node.Label = Op, op.String()
		}
		index[n.ID()] = len(d.Nodes)
		d.Nodes = append(d.Nodes, node)
		return index[n.ID()]
	}
	visit(out)
	return d
}
