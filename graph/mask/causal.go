package mask

import (
	"encoding/json"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Causal shows each query the keys up to its own position.
//
//	{"type": "causal", "align": "upper_left"}
type Causal struct {
	Align Alignment `json:"align,omitempty"`
}

func (m Causal) window() SlidingWindow { return SlidingWindow{Left: Unlimited, Align: m.Align} }

func (m Causal) validate() error { return m.window().validate() }

func (m Causal) resolve(in *inputs) (Mask, error) { return m, in.checkAlign(m.Align) }

func (m Causal) bind(in []*tensor.Dense, s Scores) (KeySet, error) { return m.window().bind(in, s) }

func (m Causal) withNodes(func(*G.Node) *G.Node) Mask { return m }

// MarshalJSON writes the mask as Decode reads it.
func (m Causal) MarshalJSON() ([]byte, error) {
	type fields Causal
	return json.Marshal(struct {
		kind
		fields
	}{kind{"causal"}, fields(m)})
}

func init() { kinds["causal"] = fields[Causal] }
