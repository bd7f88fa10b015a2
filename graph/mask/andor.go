package mask

import (
	"encoding/json"
	"sync"

	"attention/internal/config"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// And shows the keys that all masks show.
//
//	{"type": "and", "of": [{"type": "causal"}, {"type": "prefix", "n": 4}]}
func And(a, b Mask, more ...Mask) Mask { return join(false, a, b, more) }

// Or shows the keys that at least one of the masks shows.
//
//	{"type": "or", "of": [{"type": "causal"}, {"type": "prefix", "n": 4}]}
func Or(a, b Mask, more ...Mask) Mask { return join(true, a, b, more) }

// join returns ((a ∧ b) ∧ …) or ((a ∨ b) ∨ …).
func join(or bool, a, b Mask, more []Mask) Mask {
	m := either{a, b, or}
	for _, next := range more {
		m = either{m, next, or}
	}
	return m
}

// either is A and B, or A or B.
type either struct {
	A, B Mask
	Or   bool
}

func (m either) validate() error {
	if err := (not{m.A}).validate(); err != nil {
		return err
	}
	return not{m.B}.validate()
}

func (m either) resolve(in *inputs) (Mask, error) {
	a, err := m.A.resolve(in)
	if err != nil {
		return nil, err
	}
	b, err := m.B.resolve(in)
	return either{a, b, m.Or}, err
}

func (m either) bind(in []*tensor.Dense, s Scores) (KeySet, error) {
	a, err := m.A.bind(in, s)
	if err != nil {
		return KeySet{}, err
	}
	b, err := m.B.bind(in, s)
	if m.Or {
		return union(a, b), err
	}
	return intersection(a, b), err
}

func intersection(a, b KeySet) KeySet {
	return KeySet{
		Span: func(batch, t int) (lo, hi int, all bool) {
			alo, ahi, aall := a.Span(batch, t)
			blo, bhi, ball := b.Span(batch, t)
			lo, hi = max(alo, blo), min(ahi, bhi)
			return min(lo, hi), hi, aall && ball || lo >= hi
		},
		Fill: fillBoth(a, b, clearOutside, func(shown, other []bool) {
			for i, v := range other {
				shown[i] = shown[i] && v
			}
		}),
		glance: glanceOf(func(batch, t, s0, n int) Sight { return joined(SeesNone, a, b, batch, t, s0, n) }, a, b),
	}
}

func union(a, b KeySet) KeySet {
	return KeySet{
		Span: func(batch, t int) (lo, hi int, all bool) {
			alo, ahi, aall := a.Span(batch, t)
			blo, bhi, ball := b.Span(batch, t)
			switch {
			case alo >= ahi:
				return blo, bhi, ball
			case blo >= bhi:
				return alo, ahi, aall
			}
			touch := alo <= bhi && blo <= ahi
			return min(alo, blo), max(ahi, bhi), aall && ball && touch
		},
		Fill: fillBoth(a, b, setRange, func(shown, other []bool) {
			for i, v := range other {
				shown[i] = shown[i] || v
			}
		}),
		glance: glanceOf(func(batch, t, s0, n int) Sight { return joined(SeesAll, a, b, batch, t, s0, n) }, a, b),
	}
}

// joined returns the sight of a query in the combination of two sets, if one set's sight decides it alone.
func joined(decides Sight, a, b KeySet, batch, t, s0, n int) Sight {
	first := a.Glance(batch, t, s0, n)
	if first == decides {
		return decides
	}
	switch second := b.Glance(batch, t, s0, n); {
	case second == decides:
		return decides
	case first == second:
		return first
	}
	return SeesSome
}

// glanceOf returns a glance function that combines those of some sets; nil if no set has one.
func glanceOf(glance func(b, t, s0, n int) Sight, of ...KeySet) func(b, t, s0, n int) Sight {
	for _, k := range of {
		if k.glance != nil {
			return glance
		}
	}
	return nil
}

// fillBoth fills with one set and then combines with the other: by range if that set is a range, which is fast,
// otherwise key by key.
func fillBoth(
	a, b KeySet, joinRange func(lo, hi, s0 int, shown []bool), join func(shown, other []bool),
) func(b, h, t, s0 int, shown []bool) {
	return func(batch, h, t, s0 int, shown []bool) {
		for _, k := range [2][2]*KeySet{{&a, &b}, {&b, &a}} {
			if lo, hi, all := k[0].Span(batch, t); all {
				k[1].Fill(batch, h, t, s0, shown)
				joinRange(lo, hi, s0, shown)
				return
			}
		}
		line := lines.Get().(*[]bool)
		defer lines.Put(line)
		if cap(*line) < len(shown) {
			*line = make([]bool, len(shown))
		}
		other := (*line)[:len(shown)]
		a.Fill(batch, h, t, s0, shown)
		b.Fill(batch, h, t, s0, other)
		join(shown, other)
	}
}

// lines is a pool of memory for the second of two lines.
var lines = sync.Pool{New: func() any { return new([]bool) }}

func (m either) withNodes(of func(*G.Node) *G.Node) Mask {
	return either{m.A.withNodes(of), m.B.withNodes(of), m.Or}
}

// MarshalJSON returns the mask in the form that Decode reads.
func (m either) MarshalJSON() ([]byte, error) {
	k := kind{"and"}
	if m.Or {
		k = kind{"or"}
	}
	return json.Marshal(struct {
		kind
		Of []Mask `json:"of"`
	}{k, m.joined()})
}

// joined returns the masks of an And or Or.
func (m either) joined() []Mask {
	if a, ok := m.A.(either); ok && a.Or == m.Or {
		return append(a.joined(), m.B)
	}
	return []Mask{m.A, m.B}
}

func init() {
	kinds["and"] = func(text []byte) (Mask, error) { return readJoined(false, text) }
	kinds["or"] = func(text []byte) (Mask, error) { return readJoined(true, text) }
}

func readJoined(or bool, text []byte) (Mask, error) {
	var m struct {
		kind
		Of []decoded `json:"of"`
	}
	if err := config.Decode(text, &m); err != nil {
		return nil, err
	}
	if len(m.Of) < 2 {
		return nil, config.Errorf(m, "Of", "got a list of length %d, want two masks or more", len(m.Of))
	}
	of := make([]Mask, len(m.Of))
	for i, d := range m.Of {
		of[i] = d.Mask
	}
	return join(or, of[0], of[1], of[2:]), nil
}
