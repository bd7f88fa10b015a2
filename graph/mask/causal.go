package mask

import (
	"encoding/json"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Causal shows each query the keys up to its own position: query t sees key s if s ≤ t + Offset, with LowerRight if s ≤
// t + S − T + Offset. A query whose position is before the first key sees no key.
//
//	{"type": "causal", "align": "upper_left", "offset": 4}
//
// Offset is the number of keys of earlier tokens before those of the T queries' own tokens, as when a prefill
// continues: with S = Offset + T, the mask is that of the ONNX standard's Attention with as many past keys. An offset
// other than 0 sets the queries' positions, so T ≠ S then needs no alignment. With Offset −1 a query does not see its
// own key. With a cache, t is the position in the whole sequence.
type Causal struct {
	Align  Alignment `json:"align,omitempty"`
	Offset int       `json:"offset,omitempty"` // added to the queries' positions, positive or negative
}

func (m Causal) validate() error { return alignments.Validate(m.Align) }

func (m Causal) resolve(in *inputs) (Mask, error) {
	_, err := m.offsets(in.Scores)
	return m, err
}

// offsets returns the positions of the batches' first queries among the keys, without Offset.
func (m Causal) offsets(s Scores) ([]int, error) {
	if m.Offset != 0 && m.Align == Square {
		return s.offsets(UpperLeft)
	}
	return s.offsets(m.Align)
}

func (m Causal) bind(_ []*tensor.Dense, s Scores) (KeySet, error) {
	offsets, err := m.offsets(s)
	more := nearby(int64(m.Offset))
	return ranges(len(offsets), func(b, t int) (lo, hi int) {
		return 0, min(max(offsets[b%len(offsets)]+t+more+1, 0), s.S)
	}), err
}

// nearby returns the offset limited to ±Unlimited, so that sums do not overflow.
func nearby(offset int64) int { return int(min(max(offset, -Unlimited), Unlimited)) }

func (m Causal) withNodes(func(*G.Node) *G.Node) Mask { return m }

// MarshalJSON returns the mask in the form that Decode reads.
func (m Causal) MarshalJSON() ([]byte, error) {
	type fields Causal
	return json.Marshal(struct {
		kind
		fields
	}{kind{"causal"}, fields(m)})
}

func init() { kinds["causal"] = fields[Causal] }
