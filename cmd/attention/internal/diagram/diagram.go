// Package diagram draws expression graphs: a box for each node, what is learnt in a colour of its own.
package diagram

import (
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
)

// Kind is what a node of a graph is.
type Kind int

const (
	Op     Kind = iota // computed from its inputs
	Learnt             // a parameter
	Input              // given
)

// Node is a box of a diagram.
type Node struct {
	Label string
	Shape string // in a second line
	Kind  Kind
	In    []int // indices of the nodes that it is computed from, each once
}

// Diagram is a graph to draw. A node comes after those that it is computed from.
type Diagram struct {
	Title string
	Nodes []Node
}

// Of returns the graph behind a node, with its learnable nodes. The last node of the diagram is the given one.
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
