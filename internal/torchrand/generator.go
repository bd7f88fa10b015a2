package torchrand

// Float is an element type that the streams fill.
type Float interface{ float32 | float64 }

const (
	mtWords = 624 // words of MT19937's state
	mtShift = 397 // distance of the word ahead that renews a word
)

// Generator is a PyTorch CPU generator: a Mersenne Twister (MT19937) and the normal value
// that Normal keeps for its next short call. New makes one.
//
// A copy continues the stream independently. A Generator must not be used by several
// goroutines at once.
type Generator struct {
	words [mtWords]uint32
	next  int // index of the word to draw; mtWords if all are used

	normal    float64 // the second of the last pair of normal values
	hasNormal bool    // whether normal is still unused
}

// New returns a generator in the state after torch.manual_seed(seed) (init_genrand in
// Matsumoto and Nishimura's MT19937). As in PyTorch, the draws depend only on the low 32
// bits of seed.
func New(seed uint64) *Generator {
	g := &Generator{next: mtWords}
	g.words[0] = uint32(seed)
	for i := 1; i < mtWords; i++ {
		before := g.words[i-1]
		g.words[i] = 1812433253*(before^before>>30) + uint32(i)
	}
	return g
}

// Uint32 draws one word of the stream.
func (g *Generator) Uint32() uint32 {
	if g.next == mtWords {
		g.renew()
	}
	y := g.words[g.next]
	g.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// Uint64 draws two words of the stream; the first is the high one.
func (g *Generator) Uint64() uint64 {
	high := uint64(g.Uint32())
	return high<<32 | uint64(g.Uint32())
}

// renew replaces all 624 words with their successors.
func (g *Generator) renew() {
	w := &g.words
	for i := 0; i < mtWords-mtShift; i++ {
		w[i] = w[i+mtShift] ^ twist(w[i], w[i+1])
	}
	for i := mtWords - mtShift; i < mtWords-1; i++ {
		w[i] = w[i+mtShift-mtWords] ^ twist(w[i], w[i+1])
	}
	w[mtWords-1] = w[mtShift-1] ^ twist(w[mtWords-1], w[0])
	g.next = 0
}

// twist joins the top bit of a to the low 31 of b and multiplies by MT19937's matrix.
func twist(a, b uint32) uint32 {
	y := a&0x80000000 | b&0x7fffffff
	return y>>1 ^ -(y&1)&0x9908b0df
}
