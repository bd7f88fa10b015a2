package mask

import (
	"encoding/json"
	"fmt"

	"attention/internal/config"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Not shows the keys that the mask hides.
//
//	{"type": "not", "of": {"type": "causal"}}
func Not(m Mask) Mask { return not{m} }

type not struct{ Of Mask }

func (m not) validate() error {
	if m.Of == nil {
		return fmt.Errorf("got nil in And, Or or Not, want a mask")
	}
	return Validate(m.Of)
}

func (m not) resolve(in *inputs) (Mask, error) {
	of, err := m.Of.resolve(in)
	return not{of}, err
}

func (m not) bind(in []*tensor.Dense, s Scores) (KeySet, error) {
	of, err := m.Of.bind(in, s)
	return complement(of, s.S), err
}

func complement(of KeySet, keys int) KeySet {
	return KeySet{
		Span: func(b, t int) (lo, hi int, all bool) {
			lo, hi, all = of.Span(b, t)
			lo, hi = max(lo, 0), min(hi, keys)
			switch {
			case lo >= hi:
				return 0, keys, true
			case all && lo == 0:
				return hi, keys, true
			case all && hi == keys:
				return 0, lo, true
			}
			return 0, keys, false
		},
		Fill: func(b, h, t, s0 int, shown []bool) {
			of.Fill(b, h, t, s0, shown)
			for i := range shown {
				shown[i] = !shown[i]
			}
		},
		glance: glanceOf(func(b, t, s0, n int) Sight { return of.Glance(b, t, s0, n).opposite() }, of),
	}
}

func (m not) withNodes(of func(*G.Node) *G.Node) Mask { return not{m.Of.withNodes(of)} }

// MarshalJSON returns the mask in the form that Decode reads.
func (m not) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		kind
		Of Mask `json:"of"`
	}{kind{"not"}, m.Of})
}

func init() {
	kinds["not"] = func(text []byte) (Mask, error) {
		var m struct {
			kind
			Of decoded `json:"of"`
		}
		if err := config.Decode(text, &m); err != nil {
			return nil, err
		}
		if m.Of.Mask == nil {
			return nil, config.Errorf(m, "Of", "got none, want a mask")
		}
		return Not(m.Of.Mask), nil
	}
}
