package graph

import (
	"sync"

	"gorgonia.org/tensor"
)

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
	// Mostly one of them is a range.
	for _, c := range [2][2]keySet{{k.a, k.b}, {k.b, k.a}} {
		lo, hi, all := c[0].span(b, t)
		if !all {
			continue
		}
		c[1].fill(b, h, t, s0, shown)
		if k.or {
			setRange(lo, hi, s0, shown)
		} else {
			clearOutside(lo, hi, s0, shown)
		}
		return
	}
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
