package graph

import (
	"fmt"
	"math"
	"sync"

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
	for i := max(lo-s0, 0); i < min(hi-s0, len(shown)); i++ {
		shown[i] = true
	}
}

type everything struct{}

func (everything) bind(_ []*tensor.Dense, at place) (keySet, error) { return everything{}, nil }
func (everything) span(int, int) (lo, hi int, all bool)             { return 0, math.MaxInt, true }

func (everything) fill(_, _, _, _ int, shown []bool) {
	for i := range shown {
		shown[i] = true
	}
}

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

// keep shows the keys where an input, laid out as At says, is 1.
type keep struct {
	Input int
	At    kernel.BiasLayout
}

func (r keep) bind(in []*tensor.Dense, at place) (keySet, error) {
	k := &keepKeys{at: r.At, place: at}
	var err error
	switch x := in[r.Input]; x.Dtype() {
	case tensor.Float32:
		k.shown, err = zeroOne(floats[float32](x))
	case tensor.Float64:
		k.shown, err = zeroOne(floats[float64](x))
	default:
		k.shown, err = zeroOne(ints(x))
	}
	if err != nil {
		return nil, err
	}
	k.findSpans()
	return k, nil
}

func zeroOne[N float32 | float64 | int64](data []N) ([]bool, error) {
	shown := make([]bool, len(data))
	for i, v := range data {
		if v != 0 && v != 1 {
			return nil, fmt.Errorf("keep: got %v at element %d, want 0 or 1", v, i)
		}
		shown[i] = v == 1
	}
	return shown, nil
}

type keepKeys struct {
	at    kernel.BiasLayout
	place place
	shown []bool
	spans []keepSpan // of every batch and query that differ
}

type keepSpan struct {
	lo, hi int
	all    bool
}

// findSpans finds the first and the last key that each query sees in any head.
func (k *keepKeys) findSpans() {
	p := k.place
	if k.at.Batch == 0 {
		p.B = 1
	}
	if k.at.Query == 0 {
		p.T = 1
	}
	if k.at.Head == 0 {
		p.H = 1
	}
	keys := p.S
	if k.at.Key == 0 {
		keys = 1 // for all
	}
	k.spans = make([]keepSpan, p.B*p.T)
	for i := range k.spans {
		b, t, n := i/p.T, i%p.T, 0
		s := keepSpan{lo: keys}
		for h := range p.H {
			for key := range keys {
				if k.shows(b, h, t, key) {
					s.lo, s.hi = min(s.lo, key), max(s.hi, key+1)
					n++
				}
			}
		}
		s.lo = min(s.lo, s.hi)
		s.all = n == (s.hi-s.lo)*p.H
		if k.at.Key == 0 && s.hi > 0 {
			s.hi = p.S
		}
		k.spans[i] = s
	}
	k.place = p
}

func (k *keepKeys) shows(b, h, t, s int) bool {
	return k.shown[b*k.at.Batch+h*k.at.Head+t*k.at.Query+s*k.at.Key]
}

func (k *keepKeys) span(b, t int) (lo, hi int, all bool) {
	if k.at.Batch == 0 {
		b = 0
	}
	if k.at.Query == 0 {
		t = 0
	}
	s := &k.spans[b*k.place.T+t]
	return s.lo, s.hi, s.all
}

func (k *keepKeys) fill(b, h, t, s0 int, shown []bool) {
	for i := range shown {
		shown[i] = k.shows(b, h, t, s0+i)
	}
}

// pair shows what both rules show or, if Or is set, what either does.
type pair struct {
	A, B rule
	Or   bool
}

func (r pair) bind(in []*tensor.Dense, at place) (keySet, error) {
	a, err := r.A.bind(in, at)
	if err != nil {
		return nil, err
	}
	b, err := r.B.bind(in, at)
	return pairKeys{a, b, r.Or}, err
}

type pairKeys struct {
	a, b keySet
	or   bool
}

func (k pairKeys) span(b, t int) (lo, hi int, all bool) {
	alo, ahi, aall := k.a.span(b, t)
	blo, bhi, ball := k.b.span(b, t)
	switch {
	case !k.or:
		lo, hi = max(alo, blo), min(ahi, bhi)
		return min(lo, hi), hi, aall && ball || lo >= hi
	case alo >= ahi:
		return blo, bhi, ball
	case blo >= bhi:
		return alo, ahi, aall
	}
	touch := alo <= bhi && blo <= ahi
	return min(alo, blo), max(ahi, bhi), aall && ball && touch
}

// lines lends memory for the second of two lines.
var lines = sync.Pool{New: func() any { return new([]bool) }}

func (k pairKeys) fill(b, h, t, s0 int, shown []bool) {
	line := lines.Get().(*[]bool)
	defer lines.Put(line)
	if cap(*line) < len(shown) {
		*line = make([]bool, len(shown))
	}
	other := (*line)[:len(shown)]
	k.a.fill(b, h, t, s0, shown)
	k.b.fill(b, h, t, s0, other)
	for i, v := range other {
		if k.or {
			shown[i] = shown[i] || v
		} else {
			shown[i] = shown[i] && v
		}
	}
}

// inverse shows what a rule hides.
type inverse struct{ Of rule }

func (r inverse) bind(in []*tensor.Dense, at place) (keySet, error) {
	of, err := r.Of.bind(in, at)
	return inverseKeys{of, at.S}, err
}

type inverseKeys struct {
	of   keySet
	keys int
}

func (k inverseKeys) span(b, t int) (lo, hi int, all bool) {
	lo, hi, all = k.of.span(b, t)
	lo, hi = max(lo, 0), min(hi, k.keys)
	switch {
	case lo >= hi:
		return 0, k.keys, true
	case all && lo == 0:
		return hi, k.keys, true
	case all && hi == k.keys:
		return 0, lo, true
	}
	return 0, k.keys, false
}

func (k inverseKeys) fill(b, h, t, s0 int, shown []bool) {
	k.of.fill(b, h, t, s0, shown)
	for i := range shown {
		shown[i] = !shown[i]
	}
}

// withExtra is a rule for the first keys of a run whose last Extra keys all queries see.
type withExtra struct {
	Of    rule
	Extra int
}

func (r withExtra) bind(in []*tensor.Dense, at place) (keySet, error) {
	at.S -= r.Extra
	of, err := r.Of.bind(in, at)
	return extraKeys{of, at.S, at.S + r.Extra}, err
}

type extraKeys struct {
	of         keySet
	keys, most int
}

func (k extraKeys) span(b, t int) (lo, hi int, all bool) {
	lo, hi, all = k.of.span(b, t)
	lo, hi = max(lo, 0), min(hi, k.keys)
	if lo >= hi {
		return k.keys, k.most, true
	}
	return lo, k.most, all && hi == k.keys
}

func (k extraKeys) fill(b, h, t, s0 int, shown []bool) {
	n := min(max(k.keys-s0, 0), len(shown))
	if n > 0 {
		k.of.fill(b, h, t, s0, shown[:n])
	}
	for i := n; i < len(shown); i++ {
		shown[i] = true
	}
}
