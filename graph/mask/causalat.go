package mask

import (
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// CausalAt is Causal with an offset for each sequence: query t of batch b sees key s if s ≤ t + Start[b], int or int64
// (B). Start is the number of keys of earlier tokens, which precede those of the queries' own tokens, as when sequences
// of different lengths continue a prefill; if it is negative, some queries see no key. KeyLengths hides the keys behind
// the end of a sequence. T and S may be any. A cache knows the positions of its sequences: with a cache, t is the
// position in the whole sequence, and Causal is enough.
type CausalAt struct {
	Start *G.Node

	input int
}

func (CausalAt) validate() error { return nil }

func (m CausalAt) resolve(in *inputs) (Mask, error) {
	start := Input{Name: "causal_start", Node: m.Start, Integer: true, Shape: in.Batch, Letters: "(B)"}
	return CausalAt{input: in.add(start)}, nil
}

func (m CausalAt) bind(in []*tensor.Dense, s Scores) (KeySet, error) {
	start, err := integersOf(in, m.input, "causal_start", s.B(), 1)
	if err != nil {
		return KeySet{}, err
	}
	offsets, err := s.offsets(UpperLeft)
	return ranges(s.B(), func(b, t int) (lo, hi int) {
		return 0, min(max(offsets[b%len(offsets)]+t+nearby(start[b])+1, 0), s.S)
	}), err
}

func (m CausalAt) withNodes(of func(*G.Node) *G.Node) Mask { return CausalAt{Start: of(m.Start)} }

// MarshalJSON fails: the mask holds a node.
func (CausalAt) MarshalJSON() ([]byte, error) { return nil, errNode("CausalAt") }
