package text

import (
	"math/bits"
)

import "unicode/utf8"

// alphabet holds the tokens of single bytes or characters, which are the first symbols of a piece of text.
type alphabet struct {
	bytes    *[256]int32 // for a byte-level model; nil if symbols are characters
	runes    []int32     // by character; noToken, also for characters beyond its end, if there is no token
	fallback *[256]int32 // bytes of characters without a token; nil if these become the unknown token
	unknown  int32       // token for characters without one; noToken if they are dropped
	fuse     bool        // whether one unknown token replaces several in a row
}

// noToken is the id of a symbol without a token.
const noToken = int32(-1)

// symbol returns the token of a character.
func (a *alphabet) symbol(r rune) int32 {
	if int(r) >= len(a.runes) {
		return noToken
	}
	return a.runes[r]
}

// append adds the symbols of a piece of text.
func (a *alphabet) append(to []int32, piece string) []int32 {
	unknown := 0 // unknown symbols that have not been added yet
	flush := func() {
		for ; unknown > 0; unknown-- {
			to = append(to, a.unknown)
		}
	}
	add := func(id int32, bytes string) {
		switch {
		case id != noToken:
			flush()
			to = append(to, id)
		case a.bytes == nil && a.fallsBack(bytes): // pending unknown symbols come before it
			for i := range len(bytes) {
				to = append(to, a.fallback[bytes[i]])
			}
		case a.unknown != noToken && !a.fuse:
			flush()
			unknown = 1
		case a.unknown != noToken:
			unknown = 1
		}
	}
	if a.bytes != nil {
		for i := range len(piece) {
			add(a.bytes[piece[i]], "")
		}
	} else {
		for i, r := range piece {
			n := max(utf8.RuneLen(r), 1)
			add(a.symbol(r), piece[i:min(i+n, len(piece))])
		}
	}
	flush()
	return to
}

// fallsBack reports whether all bytes of a character have tokens.
func (a *alphabet) fallsBack(bytes string) bool {
	if a.fallback == nil {
		return false
	}
	for i := range len(bytes) {
		if a.fallback[bytes[i]] == noToken {
			return false
		}
	}
	return true
}

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
