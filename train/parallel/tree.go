package parallel

import "math/bits"

// The gradients of a step's n batches are added in a tree that depends on n alone, so that processes can divide them
// and still add the same numbers in the same order as one process (package train, Step): a node over n > 1 batches is
// its left part, over the largest power of two below n, plus its right part.

// node is the batches of a step from lo to hi−1, whose gradients are added up.
type node struct{ lo, hi int }

func (n node) len() int { return n.hi - n.lo }

// halves returns the parts of a node.
func (n node) halves() (left, right node) {
	mid := n.lo + 1<<(bits.Len(uint(n.len()-1))-1)
	return node{n.lo, mid}, node{mid, n.hi}
}

// shareOf returns the batches of one process.
func shareOf(rank, size, n int) node { return node{rank * n / size, (rank + 1) * n / size} }

// nodesIn returns the largest nodes below this one that lie within a share, in order.
func (n node) nodesIn(share node) []node {
	switch {
	case n.hi <= share.lo || share.hi <= n.lo:
		return nil
	case share.lo <= n.lo && n.hi <= share.hi:
		return []node{n}
	}
	left, right := n.halves()
	return append(left.nodesIn(share), right.nodesIn(share)...)
}
