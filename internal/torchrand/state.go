package torchrand

import (
	"encoding/binary"
	"fmt"
	"math"
)

// State is a whole Generator in the 5056 bytes of torch.get_rng_state() and
// torch.set_rng_state. In JSON it is a base64 string.
type State []byte

// stateLen is the length of a State. Its fields, little-endian: seed uint64,
// left int32, seeded int32 (always 1), next uint64, 624 words of 32 bits each in a
// uint64, and the waiting normal value. All other bytes are 0.
const (
	stateLen      = 5056
	atSeed        = 0
	atLeft        = 8
	atSeeded      = 12
	atNext        = 16
	atWords       = 24
	atNormal      = 5024
	atNormalValid = 5040
)

// maxNormal is above √(-2·ln 2⁻⁵³) = 8.57, the largest value Box–Muller can keep.
const maxNormal = 8.6

// State returns a copy of everything that future draws depend on.
func (g *Generator) State() State {
	if g.left == 0 { // a zero value
		g.start(0)
	}
	s := make(State, stateLen)
	binary.LittleEndian.PutUint64(s[atSeed:], g.seed)
	binary.LittleEndian.PutUint32(s[atLeft:], uint32(g.left))
	binary.LittleEndian.PutUint32(s[atSeeded:], 1)
	binary.LittleEndian.PutUint64(s[atNext:], uint64(g.next))
	for i, w := range g.words {
		binary.LittleEndian.PutUint64(s[atWords+8*i:], uint64(w))
	}
	if g.hasNormal {
		binary.LittleEndian.PutUint64(s[atNormal:], math.Float64bits(g.normal))
		binary.LittleEndian.PutUint32(s[atNormalValid:], 1)
	}
	return s
}

// SetState sets g to a copy of the state s, so that it continues like the generator that s
// came from. For a state that no generator can have it returns an error and does not change
// g.
func (g *Generator) SetState(s State) error {
	if len(s) != stateLen {
		return fmt.Errorf("torchrand: state: got %d bytes, want %d", len(s), stateLen)
	}
	left := binary.LittleEndian.Uint32(s[atLeft:])
	next := binary.LittleEndian.Uint64(s[atNext:])
	fresh := left == 1 && next == 0
	if !fresh && (next < 1 || next > mtWords || uint64(left) != mtWords+1-next) {
		return fmt.Errorf("torchrand: state: position: got next %d and left %d, want next 1…%d and left %d-next, or 0 and 1",
			next, left, mtWords, mtWords+1)
	}
	n := Generator{
		seed:      binary.LittleEndian.Uint64(s[atSeed:]),
		next:      int(next),
		left:      int(left),
		normal:    math.Float64frombits(binary.LittleEndian.Uint64(s[atNormal:])),
		hasNormal: s[atNormalValid] != 0,
	}
	if !(math.Abs(n.normal) <= maxNormal) {
		return fmt.Errorf("torchrand: state: waiting normal value: got %v, want a number in [-%v, %v]",
			n.normal, maxNormal, maxNormal)
	}
	var seen uint32
	for i := range n.words {
		n.words[i] = binary.LittleEndian.Uint32(s[atWords+8*i:])
		seen |= n.words[i]
	}
	if seen == 0 {
		return fmt.Errorf("torchrand: state: words: got zeros only, want a bit that is set")
	}
	// The remaining bytes can have only one value.
	for i, want := range n.State() {
		if s[i] != want {
			return fmt.Errorf("torchrand: state: byte %d: got %#02x, want %#02x", i, s[i], want)
		}
	}
	*g = n
	return nil
}
