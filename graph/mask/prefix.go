package mask

import (
	"encoding/json"
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Prefix shows every query the first N keys: Or(Causal{}, Prefix{n}) is the mask of a
// prefix language model.
//
//	{"type": "prefix", "n": 4}
type Prefix struct {
	N int `json:"n"` // at least 0
}

func (m Prefix) validate() error {
	if m.N < 0 {
		return fmt.Errorf("got a prefix of %d keys, want at least 0", m.N)
	}
	return nil
}

func (m Prefix) resolve(*inputs) (Mask, error) { return m, nil }

func (m Prefix) bind([]*tensor.Dense, Scores) (KeySet, error) {
	return ranges(1, func(int, int) (lo, hi int) { return 0, m.N }), nil
}

func (m Prefix) withNodes(func(*G.Node) *G.Node) Mask { return m }

// MarshalJSON returns the mask in the form that Decode reads.
func (m Prefix) MarshalJSON() ([]byte, error) {
	type fields Prefix
	return json.Marshal(struct {
		kind
		fields
	}{kind{"prefix"}, fields(m)})
}

func init() { kinds["prefix"] = fields[Prefix] }
