package graph

import (
	"fmt"
	"math"

	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// A rule is a compiled mask: a plain value, since ops are told apart by their fields.
type rule interface {
	// bind makes the rule ready for one run. in are the inputs it reads; an error
	// says which is wrong, and the op is yet to be named.
	bind(in []*tensor.Dense, at place) (keySet, error)
}

// place is where the queries and keys of one run stand.
type place struct {
	B, H, T, S int
	Cached     bool
	Start      int // position of query 0 among the keys of a cache
}

// offset is the position of query 0 among the keys.
func (p place) offset(a Alignment) (int, error) {
	if p.Cached {
		return p.Start, nil
	}
	return a.Offset(p.T, p.S)
}

// keySet is which keys each query sees. It is read by several goroutines.
type keySet interface {
	// span is a range outside which query t of batch b sees no key in any head, and
	// whether it sees all keys inside it in all heads.
	span(b, t int) (lo, hi int, all bool)
	// fill sets which of the keys s0, s0+1, … query t of head h of batch b sees.
	fill(b, h, t, s0 int, shown []bool)
}

// show sets a kernel's rules to those of a set.
func show(a *kernel.Attention, keys keySet) {
	if _, ok := keys.(everything); ok {
		return
	}
	a.Visible = func(b, t int) (int, int) {
		lo, hi, _ := keys.span(b, t)
		return lo, hi
	}
	if whole(keys, a.B, a.T) {
		return
	}
	a.Shown = func(b, h, t, s0 int, shown []bool) bool {
		if _, _, all := keys.span(b, t); all {
			return false
		}
		keys.fill(b, h, t, s0, shown)
		return true
	}
}

// whole says whether every query sees one range of keys.
func whole(keys keySet, batches, queries int) bool {
	for b := range batches {
		for t := range queries {
			if _, _, all := keys.span(b, t); !all {
				return false
			}
		}
	}
	return true
}

// fillRange is fill for a range of keys.
func fillRange(lo, hi, s0 int, shown []bool) {
	clear(shown)
	setRange(lo, hi, s0, shown)
}

// setRange shows a range of keys and leaves the others.
func setRange(lo, hi, s0 int, shown []bool) {
	for lo, hi = max(lo-s0, 0), min(hi-s0, len(shown)); lo < hi; {
		lo += copy(shown[lo:hi], allShown[:])
	}
}

// clearOutside hides the keys outside a range and leaves the others.
func clearOutside(lo, hi, s0 int, shown []bool) {
	lo = min(max(lo-s0, 0), len(shown))
	hi = min(max(hi-s0, lo), len(shown))
	clear(shown[:lo])
	clear(shown[hi:])
}

// allShown is what ranges are copied from.
var allShown = func() (all [128]bool) {
	for i := range all {
		all[i] = true
	}
	return all
}()

type everything struct{}

func (everything) bind(_ []*tensor.Dense, at place) (keySet, error) { return everything{}, nil }
func (everything) span(int, int) (lo, hi int, all bool)             { return 0, math.MaxInt, true }

func (everything) fill(_, _, _, s0 int, shown []bool) { setRange(0, math.MaxInt, s0, shown) }

// unlimited is farther than any key is, and far from where sums overflow.
const unlimited = math.MaxInt / 4

// band shows the keys from Left before a query's position to Right after it.
type band struct {
	Left, Right int
	Align       Alignment
}

func (r band) bind(_ []*tensor.Dense, at place) (keySet, error) {
	offset, err := at.offset(r.Align)
	return bandKeys{r.Left - offset, r.Right + offset, at.S}, err
}

// bandKeys are t−left ≤ s ≤ t+right, s < keys.
type bandKeys struct{ left, right, keys int }

func (k bandKeys) span(_, t int) (lo, hi int, all bool) {
	return max(t-k.left, 0), min(t+k.right+1, k.keys), true
}

func (k bandKeys) fill(_, _, t, s0 int, shown []bool) {
	fillRange(t-k.left, t+k.right+1, s0, shown)
}

// prefix shows the first N keys.
type prefix struct{ N int }

func (r prefix) bind([]*tensor.Dense, place) (keySet, error) { return r, nil }
func (r prefix) span(int, int) (lo, hi int, all bool)        { return 0, r.N, true }
func (r prefix) fill(_, _, _, s0 int, shown []bool)          { fillRange(0, r.N, s0, shown) }

// lengths shows the first keys of each batch, as many as an input says.
type lengths struct{ Input int }

func (r lengths) bind(in []*tensor.Dense, at place) (keySet, error) {
	n := ints(in[r.Input])
	for b, v := range n {
		if v < 0 || v > int64(at.S) {
			return nil, fmt.Errorf("lengths: got %d for batch %d, want 0 to S=%d", v, b, at.S)
		}
	}
	return lengthKeys(n), nil
}

type lengthKeys []int64

func (k lengthKeys) span(b, _ int) (lo, hi int, all bool) { return 0, int(k[b]), true }
func (k lengthKeys) fill(b, _, _, s0 int, shown []bool)   { fillRange(0, int(k[b]), s0, shown) }

// segments shows the keys whose id is the query's.
type segments struct{ Query, Key int }

func (r segments) bind(in []*tensor.Dense, at place) (keySet, error) {
	k := segmentKeys{query: ints(in[r.Query]), key: ints(in[r.Key]), queries: at.T, keys: at.S}
	for b := range at.B {
		runs := map[int64]run{}
		for s, id := range k.key[b*at.S:][:at.S] {
			r, ok := runs[id]
			if !ok {
				r.lo = s
			}
			runs[id] = run{r.lo, s + 1, r.n + 1}
		}
		k.runs = append(k.runs, runs)
	}
	return &k, nil
}

// run is the first key of a segment, the one after its last, and how many there are.
type run struct{ lo, hi, n int }

type segmentKeys struct {
	query, key    []int64
	queries, keys int
	runs          []map[int64]run // of every batch, by id
}

func (k *segmentKeys) span(b, t int) (lo, hi int, all bool) {
	r := k.runs[b][k.query[b*k.queries+t]]
	return r.lo, r.hi, r.hi-r.lo == r.n
}

func (k *segmentKeys) fill(b, _, t, s0 int, shown []bool) {
	id := k.query[b*k.queries+t]
	for i, key := range k.key[b*k.keys+s0:][:len(shown)] {
		shown[i] = key == id
	}
}
