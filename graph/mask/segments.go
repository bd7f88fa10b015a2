package mask

import (
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Segments shows each query the keys of its own segment, for example if one sequence contains several documents. Key
// holds the segments of the keys, int or int64 (B, S), and Query those of the queries (B, T). A nil Key means Query.
type Segments struct {
	Query, Key *G.Node

	query, key int // inputs
}

func (Segments) validate() error { return nil }

func (m Segments) resolve(in *inputs) (Mask, error) {
	if m.Key == nil {
		m.Key = m.Query
	}
	rows := func(n int) tensor.Shape { return append(slices.Clone(in.Batch), n) }
	query := Input{Name: "segments", Node: m.Query, Integer: true, Shape: rows(in.T), Letters: "(B, T)"}
	key := Input{Name: "key_segments", Node: m.Key, Integer: true, Shape: rows(in.S), Letters: "(B, S)"}
	return Segments{query: in.add(query), key: in.add(key)}, in.checkKeys("segments")
}

func (m Segments) bind(in []*tensor.Dense, s Scores) (KeySet, error) {
	query, err := integersOf(in, m.query, "segments", s.B(), s.T)
	if err != nil {
		return KeySet{}, err
	}
	key, err := integersOf(in, m.key, "key_segments", s.B(), s.S)
	if err != nil {
		return KeySet{}, err
	}
	runs := runsOf(key, s.B(), s.S)
	return KeySet{
		Span: func(b, t int) (lo, hi int, all bool) {
			r := runs[b][query[b*s.T+t]]
			return r.lo, r.hi, r.hi-r.lo == r.n
		},
		Fill: func(b, _, t, s0 int, shown []bool) {
			id := query[b*s.T+t]
			for i, k := range key[b*s.S+s0:][:len(shown)] {
				shown[i] = k == id
			}
		},
	}, nil
}

// run is the n keys of a segment: lo is the index of the first, and hi the index after the last.
type run struct{ lo, hi, n int }

// runsOf returns the runs of every batch, computed from the segments' ids.
func runsOf(key []int64, batches, keys int) []map[int64]run {
	runs := make([]map[int64]run, batches)
	for b := range runs {
		runs[b] = map[int64]run{}
		for s, id := range key[b*keys:][:keys] {
			r, ok := runs[b][id]
			if !ok {
				r.lo = s
			}
			runs[b][id] = run{r.lo, s + 1, r.n + 1}
		}
	}
	return runs
}

func (m Segments) withNodes(of func(*G.Node) *G.Node) Mask {
	if m.Key == nil {
		m.Key = m.Query
	}
	return Segments{Query: of(m.Query), Key: of(m.Key)}
}

// MarshalJSON fails: the mask holds nodes.
func (Segments) MarshalJSON() ([]byte, error) { return nil, errNode("Segments") }
