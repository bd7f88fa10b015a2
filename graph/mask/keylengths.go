package mask

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// KeyLengths shows the queries of batch b the first Lengths[b] keys, int or int64 (B), and so hides padding.
type KeyLengths struct {
	Lengths *G.Node

	input int
}

func (KeyLengths) validate() error { return nil }

func (m KeyLengths) resolve(in *inputs) (Mask, error) {
	lengths := Input{Name: "lengths", Node: m.Lengths, Integer: true, Shape: in.Batch, Letters: "(B)"}
	return KeyLengths{input: in.add(lengths)}, nil
}

func (m KeyLengths) bind(in []*tensor.Dense, s Scores) (KeySet, error) {
	lengths, err := integersOf(in, m.input, "lengths", s.B(), 1)
	if err != nil {
		return KeySet{}, err
	}
	for b, n := range lengths {
		if n < 0 || n > int64(s.S) {
			return KeySet{}, fmt.Errorf("lengths: got %d for batch %d, want 0 to S=%d", n, b, s.S)
		}
	}
	return ranges(s.B(), func(b, _ int) (lo, hi int) { return 0, int(lengths[b]) }), nil
}

func (m KeyLengths) withNodes(of func(*G.Node) *G.Node) Mask {
	return KeyLengths{Lengths: of(m.Lengths)}
}

// MarshalJSON fails: the mask holds a node.
func (KeyLengths) MarshalJSON() ([]byte, error) { return nil, errNode("KeyLengths") }
