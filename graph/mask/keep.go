package mask

import (
	"fmt"
	"reflect"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Keep shows each query the keys where Keep is 1 or true and hides those where it is 0 or
// false. It is a node of bools, integers or floats that broadcasts to (B, H, T, S) as in
// torch: axes are matched from the last, missing ones and those of length 1 are repeated.
// Other values are an error when the graph runs.
//
// The padding of a batch is (B, 1, 1, S). Without the axes in between, (B, S) means (T, S), and (B, T, S) means
// (H, T, S). If both meanings fit, because B = T or B = H, such a shape is an error; (1, 1, T, S) and (1, H, T, S) are
// unambiguous.
type Keep struct {
	Keep *G.Node

	input int
}

func (Keep) validate() error { return nil }

func (m Keep) resolve(in *inputs) (Mask, error) {
	resolved := Keep{input: in.add(Input{Name: "keep", Node: m.Keep, Broadcasts: true})}
	if n := m.Keep; n != nil && len(n.Shape()) > 0 && n.Shape()[len(n.Shape())-1] > 1 {
		return resolved, in.checkKeys("keep")
	}
	return resolved, nil
}

func (m Keep) bind(in []*tensor.Dense, s Scores) (KeySet, error) {
	x, err := valueOf(in, m.input, "keep")
	if err != nil {
		return KeySet{}, err
	}
	at, want := s.BroadcastKeep(x.Shape())
	if want != "" {
		return KeySet{}, fmt.Errorf("keep: shape %v, want %s", x.Shape(), want)
	}
	keep, err := zeroOne(x)
	if err != nil {
		return KeySet{}, err
	}
	queries := 1 // that differ
	if at.Query > 0 {
		queries = s.T
	}
	spans := spansOf(keep, at, s, queries)
	return KeySet{
		Span: func(b, t int) (lo, hi int, all bool) {
			if at.Batch == 0 {
				b = 0
			}
			if at.Query == 0 {
				t = 0
			}
			r := &spans[b*queries+t]
			return r.lo, r.hi, r.all
		},
		Fill: func(b, h, t, s0 int, shown []bool) {
			from := keep[b*at.Batch+h*at.Head+t*at.Query+s0*at.Key:]
			if at.Key == 1 {
				copy(shown, from)
				return
			}
			for i := range shown {
				shown[i] = from[0] // of all keys
			}
		},
	}, nil
}

// KeepTypes returns the types that the node of a Keep may have.
func KeepTypes() []tensor.Dtype {
	return []tensor.Dtype{tensor.Bool, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64, tensor.Uint,
		tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Int, tensor.Float32, tensor.Float64}
}

// zeroOne returns bools that are true where a tensor of zeros and ones is 1. The caller must not change them.
func zeroOne(x *tensor.Dense) ([]bool, error) {
	is, other := dense.NotZero(x, nil)
	if other >= 0 {
		return nil, fmt.Errorf("keep: got %v at element %d, want 0 or 1", reflect.ValueOf(dense.Slice(x)).Index(other),
			other)
	}
	return is, nil
}

// keepSpan is the range from the first to the last key that a query sees in any head, and whether the query sees all
// keys of the range in all heads.
type keepSpan struct {
	lo, hi int
	all    bool
}

// spansOf returns the spans of the queries of every batch that has its own.
func spansOf(keep []bool, at kernel.BiasLayout, s Scores, queries int) []keepSpan {
	batches, heads, keys := s.B(), s.H, s.S
	if at.Batch == 0 {
		batches = 1
	}
	if at.Head == 0 {
		heads = 1
	}
	if at.Key == 0 {
		keys = 1 // for all
	}
	spans := make([]keepSpan, batches*queries)
	for i := range spans {
		b, t, n := i/queries, i%queries, 0
		r := keepSpan{lo: keys}
		for h := range heads {
			for k, kept := range keep[b*at.Batch+h*at.Head+t*at.Query:][:keys] {
				if kept {
					r.lo, r.hi = min(r.lo, k), max(r.hi, k+1)
					n++
				}
			}
		}
		r.lo = min(r.lo, r.hi)
		r.all = n == (r.hi-r.lo)*heads
		if at.Key == 0 && r.hi > 0 {
			r.hi = s.S
		}
		spans[i] = r
	}
	return spans
}

func (m Keep) withNodes(of func(*G.Node) *G.Node) Mask { return Keep{Keep: of(m.Keep)} }

// MarshalJSON fails: the mask holds a node.
func (Keep) MarshalJSON() ([]byte, error) { return nil, errNode("Keep") }
