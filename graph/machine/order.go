package machine

import (
	"cmp"
	"slices"

	G "gorgonia.org/gorgonia"
)

// inOrder returns the wanted nodes in the order of computation: nodes that need the shortest chain of ops come first.
// The gradient of a weight is therefore computed as soon as the gradient that flows back reaches the weight, and its
// operands are not kept.
func (g wantedGraph) inOrder(wanted G.Nodes) G.Nodes {
	depths := map[*G.Node]int{}
	var depth func(n *G.Node) int
	depth = func(n *G.Node) int {
		if d, ok := depths[n]; ok {
			return d
		}
		d := 0
		for _, child := range g.Inputs(n) {
			d = max(d, depth(child)+1)
		}
		depths[n] = d
		return d
	}
	sorted := slices.Clone(wanted)
	slices.SortStableFunc(sorted, func(a, b *G.Node) int { return cmp.Compare(depth(a), depth(b)) })
	return sorted
}
