package train

import "math/bits"

// The gradients of a step's n micro-batches are added in a tree that depends on n alone, so
// that processes can share them out and add the same numbers in the same order: a node over
// n > 1 of them is its left part, over the largest power of two below n, plus its right part.
// Up to three micro-batches it is one sum after the other.

// treeSums names this order in checkpoints. Earlier programs added one gradient after the other.
const treeSums = "tree"

// span is the micro-batches from lo to hi−1.
type span struct{ lo, hi int }

func (s span) len() int { return s.hi - s.lo }

// halves returns the parts of a node.
func (s span) halves() (left, right span) {
	mid := s.lo + 1<<(bits.Len(uint(s.len()-1))-1)
	return span{s.lo, mid}, span{mid, s.hi}
}

// shareOf returns the micro-batches of one process.
func shareOf(rank, size, n int) span { return span{rank * n / size, (rank + 1) * n / size} }

// nodesIn returns the largest nodes below this one that lie within a share, in order.
func (s span) nodesIn(share span) []span {
	switch {
	case s.hi <= share.lo || share.hi <= s.lo:
		return nil
	case share.lo <= s.lo && s.hi <= share.hi:
		return []span{s}
	}
	left, right := s.halves()
	return append(left.nodesIn(share), right.nodesIn(share)...)
}

// buffers returns how many vectors hold the sum of a node while it is made, beside the
// gradient of the last micro-batch. A sum that is kept has a vector of its own.
func (s span) buffers(keep bool) int {
	if s.len() == 1 {
		if keep {
			return 1
		}
		return 0
	}
	left, right := s.halves() // of which the first is a power of two
	return max(bits.Len(uint(left.len()))-1, 1+right.buffers(false))
}
