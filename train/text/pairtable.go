package text

import "math/bits"

// pairTable holds the pairs of tokens that are joined, with their ranks and the joined tokens.
type pairTable struct {
	slots []pairSlot // the length is a power of two, and at least a third of the slots is free
	shift int
}

// pairSlot is a pair; a free slot is zero.
type pairSlot struct {
	left, right  int32 // ids; left is stored as its id + 1
	rank, joined int32
}

// noRank is the rank of two tokens that do not form a pair.
const noRank = int32(-1)

// newPairTable returns a table for n pairs.
func newPairTable(n int) *pairTable {
	size := bits.Len(uint(n + n/2))
	return &pairTable{slots: make([]pairSlot, 1<<size), shift: 64 - size}
}

// slot returns the slot of a pair, or the free slot for it.
func (t *pairTable) slot(left, right int32) *pairSlot {
	hash := (uint64(left)<<32 | uint64(uint32(right))) * 0x9e3779b97f4a7c15
	for i := int(hash >> t.shift); ; i++ {
		s := &t.slots[i&(len(t.slots)-1)]
		if s.left == 0 || s.left == left+1 && s.right == right {
			return s
		}
	}
}

// set adds a pair. It replaces an equal pair.
func (t *pairTable) set(left, right, rank, joined int32) {
	*t.slot(left, right) = pairSlot{left + 1, right, rank, joined}
}

// find returns the rank of a pair, or noRank, and the id of the joined token.
func (t *pairTable) find(left, right int32) (rank, joined int32) {
	s := t.slot(left, right)
	if s.left == 0 {
		return noRank, 0
	}
	return s.rank, s.joined
}
