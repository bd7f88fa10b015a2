package text

// seams are the places in a text over which no token extends. They split long pieces, such as those of Llama 2 and
// Gemma, for which the whole text is one piece, mostly into words.
type seams struct {
	alphabet *alphabet
	crossed  []uint64 // a hash bit for each pair of characters that occur side by side in a token
}

// crossedBits is the number of bits, a power of two.
const crossedBits = 1 << 20

// newSeams returns the seams of a model of characters.
func newSeams(a *alphabet, merges [][2]string) *seams {
	s := &seams{a, make([]uint64, crossedBits/64)}
	for _, merge := range merges {
		left, right := lastRune(merge[0]), firstRune(merge[1])
		bit := crossing(left, right)
		s.crossed[bit/64] |= 1 << (bit % 64)
	}
	return s
}

// crossing returns the bit of a pair of characters.
func crossing(left, right rune) uint32 {
	return (uint32(left)*0x9e3779b1 ^ uint32(right)*0x85ebca6b) >> 12 % crossedBits
}

// cut yields the parts of a text between seams. Characters without a token stay with their neighbours.
func (s *seams) cut(text string, yield func(text string)) {
	start, before := 0, rune(-1)
	for i, r := range text {
		if s.alphabet.symbol(r) == noToken {
			before = -1
			continue
		}
		if before >= 0 {
			if bit := crossing(before, r); s.crossed[bit/64]&(1<<(bit%64)) == 0 {
				yield(text[start:i])
				start = i
			}
		}
		before = r
	}
	yield(text[start:])
}
