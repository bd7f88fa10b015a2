package mask

import (
	"encoding/json"
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// SlidingWindow shows each query the keys from Left before its own position to Right after it: at most Left + 1 + Right
// keys.
//
//	{"type": "sliding_window", "left": 3, "right": 0, "align": "upper_left"}
type SlidingWindow struct {
	Left  int       `json:"left"`  // at least 0
	Right int       `json:"right"` // at least 0
	Align Alignment `json:"align,omitempty"`
}

func (m SlidingWindow) validate() error {
	if m.Left < 0 || m.Right < 0 {
		return fmt.Errorf("got a window of %d to the left and %d to the right, want both at least 0", m.Left, m.Right)
	}
	return alignments.Validate(m.Align)
}

func (m SlidingWindow) resolve(in *inputs) (Mask, error) { return m, in.checkAlign(m.Align) }

func (m SlidingWindow) bind(_ []*tensor.Dense, s Scores) (KeySet, error) {
	offsets, err := s.offsets(m.Align)
	left, right := min(m.Left, Unlimited), min(m.Right, Unlimited)
	return ranges(len(offsets), func(b, t int) (lo, hi int) {
		at := offsets[b%len(offsets)] + t
		return max(at-left, 0), min(at+right+1, s.S)
	}), err
}

func (m SlidingWindow) withNodes(func(*G.Node) *G.Node) Mask { return m }

// MarshalJSON returns the mask in the form that Decode reads.
func (m SlidingWindow) MarshalJSON() ([]byte, error) {
	type fields SlidingWindow
	return json.Marshal(struct {
		kind
		fields
	}{kind{"sliding_window"}, fields(m)})
}

func init() { kinds["sliding_window"] = fields[SlidingWindow] }
