package mask

import (
	"cmp"
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Blocks shows each query of each head the blocks of keys that Chosen names for the query: int or int64 (…, H, T, N),
// without H if the scores have no axis of heads. Block i contains the keys i·Size ≤ s < (i+1)·Size; the last block may
// be shorter. A negative number names no block, and a repeated number counts once. graph.FusedAttention reads the
// chosen blocks only. graph.FusedAttention reads the chosen blocks only.
type Blocks struct {
	Size   int
	Chosen *G.Node

	input int
}

func (m Blocks) validate() error {
	if m.Size < 1 {
		return fmt.Errorf("got blocks of %d keys, want at least 1", m.Size)
	}
	return nil
}

func (m Blocks) resolve(in *inputs) (Mask, error) {
	each := 1
	if n := m.Chosen; n != nil && n.Dims() > 0 {
		each = n.Shape()[n.Dims()-1]
	}
	shape := append(in.RowShape(), each)
	letters := "(…, T, N)"
	if in.Heads {
		letters = "(…, H, T, N)"
	}
	blocks := Input{Name: "blocks", Node: m.Chosen, Integer: true, Shape: shape, Letters: letters}
	return Blocks{Size: m.Size, input: in.add(blocks)}, in.checkKeys("blocks")
}

func (m Blocks) bind(in []*tensor.Dense, s Scores) (KeySet, error) {
	numbers, err := m.Numbers(in, s)
	if err != nil {
		return KeySet{}, err
	}
	each := len(numbers) / (s.B() * s.H * s.T)
	of := func(b, h, t int) []int64 { return numbers[((b*s.H+h)*s.T+t)*each:][:each] }
	return KeySet{
		Span: func(b, t int) (lo, hi int, all bool) {
			lo = s.S
			for h := range s.H {
				for _, i := range of(b, h, t) {
					if i >= 0 {
						lo, hi = min(lo, int(i)*m.Size), max(hi, min((int(i)+1)*m.Size, s.S))
					}
				}
			}
			return min(lo, hi), hi, false
		},
		Fill: func(b, h, t, s0 int, shown []bool) {
			clear(shown)
			for _, i := range of(b, h, t) {
				if i >= 0 {
					setRange(int(i)*m.Size, (int(i)+1)*m.Size, s0, shown)
				}
			}
		},
	}, nil
}

// Numbers returns the numbers of the blocks of a resolved mask in one run, in the order of the rows of the scores.
func (m Blocks) Numbers(in []*tensor.Dense, s Scores) ([]int64, error) {
	x, err := valueOf(in, m.input, "blocks")
	if err := cmp.Or(m.validate(), s.check(), err); err != nil {
		return nil, err
	}
	n := 1
	if shape := x.Shape(); len(shape) > 0 {
		n = shape[len(shape)-1]
	}
	numbers, err := integersOf(in, m.input, "blocks", s.B()*s.H*s.T, n)
	if err != nil {
		return nil, err
	}
	if len(numbers) == 0 {
		return nil, fmt.Errorf("blocks: got none, want at least one for each query of H=%d heads", s.H)
	}
	got, most := slices.Max(numbers), int64((s.S-1)/m.Size)
	if got > most {
		return nil, fmt.Errorf("blocks: got block %d, want at most %d, the last one of S=%d", got, most, s.S)
	}
	return numbers, nil
}

// WithoutBlocks splits an And: it returns the mask without its Blocks, and these Blocks; nil if there are none.
func WithoutBlocks(m Mask) (rest Mask, blocks *Blocks) {
	switch m := m.(type) {
	case Blocks:
		return All{}, &m
	case either:
		if m.Or {
			break
		}
		if a, blocks := WithoutBlocks(m.A); blocks != nil {
			return both(a, m.B), blocks
		}
		if b, blocks := WithoutBlocks(m.B); blocks != nil {
			return both(m.A, b), blocks
		}
	}
	return m, nil
}

// both returns And(a, b), or one of them if the other is All.
func both(a, b Mask) Mask {
	switch (All{}) {
	case a:
		return b
	case b:
		return a
	}
	return And(a, b)
}

func (m Blocks) withNodes(of func(*G.Node) *G.Node) Mask {
	return Blocks{Size: m.Size, Chosen: of(m.Chosen)}
}

// MarshalJSON fails: the mask holds a node.
func (Blocks) MarshalJSON() ([]byte, error) { return nil, errNode("Blocks") }
