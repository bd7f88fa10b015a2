package mask

import (
	"encoding/json"
	"math"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// All shows each query every key.
//
//	{"type": "all"}
type All struct{}

func (All) validate() error { return nil }

func (m All) resolve(*inputs) (Mask, error) { return m, nil }

func (All) bind([]*tensor.Dense, Scores) (KeySet, error) {
	return ranges(1, func(int, int) (lo, hi int) { return 0, math.MaxInt }), nil
}

func (m All) withNodes(func(*G.Node) *G.Node) Mask { return m }

// MarshalJSON returns the mask in the form that Decode reads.
func (All) MarshalJSON() ([]byte, error) { return json.Marshal(kind{"all"}) }

func init() { kinds["all"] = fields[All] }
