// Package diagram draws expression graphs, with a box for each node. Parameters have a colour of their own.
package diagram

import (
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
)

// kind is the kind of a node.
type kind int

// The kinds in the order of the legend.
const (
	learnt kind = iota // a parameter
	input              // neither computed nor learnt
	op                 // computed from its inputs
)

// node is a box of a diagram.
type node struct {
	label string
	shape string // the second line
	kind  kind
	in    []int // indices of the nodes that it is computed from, each once
}

// Diagram is a graph to draw. A node comes after the nodes that it is computed from.
type Diagram struct {
	title string
	nodes []node
}

// Of returns the graph that a node is computed by. The node is the last one of the diagram.
func Of(title string, out *G.Node, learnables G.Nodes) Diagram {
	d := Diagram{title: title}
	index := map[int64]int{}
	var visit func(n *G.Node) int
	visit = func(n *G.Node) int {
		if i, ok := index[n.ID()]; ok {
			return i
		}
		box := node{label: n.Name(), shape: fmt.Sprint(n.Shape()), kind: input}
		for it := n.Graph().From(n.ID()); it != nil && it.Next(); {
			if i := visit(it.Node().(*G.Node)); !slices.Contains(box.in, i) {
				box.in = append(box.in, i)
			}
		}
		if slices.Contains(learnables, n) {
			box.kind = learnt
		} else if of := n.Op(); of != nil {
			box.kind, box.label = op, of.String()
		}
		index[n.ID()] = len(d.nodes)
		d.nodes = append(d.nodes, box)
		return index[n.ID()]
	}
	visit(out)
	return d
}
