package graph_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// drawnMask describes a mask by plain data.
type drawnMask struct {
	kind        string
	align       mask.Alignment
	left, right int // of a window; left is also the length of a prefix
	offset      int // of a causal mask
	batch       int // the batch number that a function counts as 0
	rule        int // of a function
	dt          tensor.Dtype
	first       array // lengths, ids of queries, or elements of Keep
	second      array // ids of keys; no shape: the ids of the queries
	of          []drawnMask
}

// sees defines every mask for one query and one key.
func (m drawnMask) sees(z sizes, b, h, t, s int) bool {
	at := t // the query's position among the keys
	if m.align == mask.LowerRight {
		at += z.S - z.T
	}
	switch m.kind {
	case "causal":
		return s <= at+m.offset
	case "causal at":
		return s <= t+int(m.first.v[b])
	case "func":
		return m.visible(b+m.batch, h, t, s)
	case "func at":
		return m.visible(0, 0, t, s)
	case "window":
		return at-s <= m.left && s-at <= m.right
	case "prefix":
		return s < m.left
	case "lengths":
		return float64(s) < m.first.v[b]
	case "segments":
		key := m.second
		if key.shape == nil {
			key = m.first
		}
		return m.first.v[b*z.T+t] == key.v[b*z.S+s]
	case "keep":
		return z.of(m.first, b, h, t, s) == 1
	case "not":
		return !m.of[0].sees(z, b, h, t, s)
	}
	for _, of := range m.of {
		if of.sees(z, b, h, t, s) != (m.kind == "and") {
			return m.kind == "or"
		}
	}
	return m.kind != "or" // all, or all parts of and
}

// visible is the function of a custom mask.
func (m drawnMask) visible(b, h, t, s int) bool {
	switch m.rule {
	case 0: // no key of most tiles, all keys of some
		return (t/32+b+h)%2 == s/64%2
	case 1:
		return s+b <= t+h
	case 2:
		return (31*b+17*h+7*t+3*s)%5 < 3
	}
	return m.rule == 3
}

// build makes the mask with new nodes.
func (m drawnMask) build(g *G.ExprGraph, number *int) mask.Mask {
	in := func(x array) *G.Node {
		*number++
		return node(g, fmt.Sprint("mask ", *number), x, m.dt)
	}
	var of []mask.Mask
	for _, x := range m.of {
		of = append(of, x.build(g, number))
	}
	switch m.kind {
	case "causal":
		return mask.Causal{Align: m.align, Offset: m.offset}
	case "causal at":
		return mask.CausalAt{Start: in(m.first)}
	case "func":
		return mask.Func{Name: "drawn",
			Visible: func(b, h, t, s int) bool { return m.visible(b+m.batch, h, t, s) }}
	case "func at":
		return mask.Func{Name: "drawn", VisibleAt: func(t, s int) bool { return m.visible(0, 0, t, s) }}
	case "window":
		return mask.SlidingWindow{Left: m.left, Right: m.right, Align: m.align}
	case "prefix":
		return mask.Prefix{N: m.left}
	case "lengths":
		return mask.KeyLengths{Lengths: in(m.first)}
	case "segments":
		s := mask.Segments{Query: in(m.first)}
		if m.second.shape != nil {
			s.Key = in(m.second)
		}
		return s
	case "keep":
		return mask.Keep{Keep: in(m.first)}
	case "and":
		return mask.And(of[0], of[1], of[2:]...)
	case "or":
		return mask.Or(of[0], of[1], of[2:]...)
	case "not":
		return mask.Not(of[0])
	}
	return mask.All{}
}

// mask draws a tree of masks.
func (d drawing) mask(z sizes, depth int) drawnMask {
	kinds := []string{"all", "causal", "causal at", "window", "prefix", "lengths", "segments", "keep", "func", "func at"}
	if depth > 1 {
		kinds = append(kinds, "and", "or", "not", "and", "or")
	}
	m := drawnMask{kind: pick(d, "mask", kinds...)}
	batch := func(more ...int) []int { return append(slices.Clone(z.batch), more...) }
	switch m.kind {
	case "and", "or", "not":
		n := 1
		if m.kind != "not" {
			n = d.int("masks", 2, 3)
		}
		for range n {
			m.of = append(m.of, d.mask(z, depth-1))
		}
	case "causal":
		m.offset = pick(d, "offset", 0, 0, -1, -3, 1, 4, z.S, -z.T, math.MaxInt/2, math.MinInt/2)
		m.align = d.align(z)
		if m.offset != 0 && d.flag("placed by the offset") {
			m.align = mask.Square
		}
	case "causal at":
		m.dt = pick(d, "type of starts", tensor.Int, tensor.Int64)
		m.first = d.whole(z.S+z.T, batch()...)
		for i := range m.first.v {
			m.first.v[i] -= float64(z.T)
		}
	case "func", "func at":
		m.rule = d.int("rule", 0, 4)
	case "window":
		m.align = d.align(z)
		m.left, m.right = pick(d, "left", 0, 1, 3, 50, math.MaxInt), pick(d, "right", 0, 1, 2, math.MaxInt)
	case "prefix":
		m.left = pick(d, "prefix", 0, 1, 3, z.S, z.S+1, math.MaxInt)
	case "lengths":
		m.dt = pick(d, "type of lengths", tensor.Int, tensor.Int64)
		m.first = d.whole(pick(d, "longest", 0, z.S, z.S), batch()...)
	case "segments":
		m.dt = pick(d, "type of segments", tensor.Int, tensor.Int64)
		m.first = d.ids(batch(z.T)...)
		if z.T != z.S || d.flag("key segments") {
			m.second = d.ids(batch(z.S)...)
		}
	case "keep":
		m.dt = pick(d, "type of keep", mask.KeepTypes()...)
		shape := d.broadcast("keep", z)
		if len(z.batch) == 1 && len(shape) > 1 && len(shape) < len(z.shape(0)) && shape[0] == z.batch[0] {
			shape = append([]int{1}, shape...) // so that it cannot be mistaken for the batch
		}
		m.first = d.whole(pick(d, "keep some", 1, 1, 1, 0), shape...)
	}
	return m
}

func (d drawing) align(z sizes) mask.Alignment {
	legal := []mask.Alignment{mask.UpperLeft}
	if z.S >= z.T {
		legal = append(legal, mask.LowerRight)
	}
	if z.S == z.T {
		legal = append(legal, mask.Square)
	}
	return pick(d, "align", legal...)
}

// whole draws integers from 0 to most.
func (d drawing) whole(most int, shape ...int) array {
	a := zeros(shape...)
	for i := range a.v {
		a.v[i] = float64(d.r.IntN(most + 1))
	}
	return a
}

// ids draws the ids of segments; equal ids need not be adjacent.
func (d drawing) ids(shape ...int) array {
	a := d.whole(2, shape...)
	sorted := d.flag("segments side by side")
	for i := range a.v {
		a.v[i] = 7*a.v[i] - 3
	}
	if n := a.axis(-1); sorted {
		for i := 0; i < len(a.v); i += n {
			slices.Sort(a.v[i:][:n])
		}
	}
	return a
}

// maskOf returns the mask of one batch.
func (a drawnAttention) maskOf(m drawnMask, b int) drawnMask {
	m.of = slices.Clone(m.of)
	for i, x := range m.of {
		m.of[i] = a.maskOf(x, b)
	}
	for _, x := range []*array{&m.first, &m.second} {
		if x.v != nil {
			*x = a.part(m.kind, *x, b)
		}
	}
	m.batch += b
	return m
}

// All masks, for all small lengths, equal their definitions.
func TestMasksAreTheirDefinitions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := newDrawing(rt)
		z := sizes{batch: []int{d.int("B", 1, 2)}, heads: true, H: d.int("H", 1, 3), T: d.int("T", 1, 5),
			S: d.int("S", 1, 5)}
		m := d.mask(z, 4)
		got := z.table(shrinking{t, rt}, m)
		want := got.like()
		for i := range want.v {
			if s, t, h, b := i%z.S, i/z.S%z.T, i/z.S/z.T%z.H, i/z.S/z.T/z.H; !m.sees(z, b, h, t, s) {
				want.v[i] = math.Inf(-1)
			}
		}
		if w, g := printed(want), printed(got); w != g {
			rt.Fatalf("%+v:\n%s\nwant\n%s", m, g, w)
		}
	})
}

// table returns zeros filled by a drawn mask.
func (z sizes) table(t testing.TB, m drawnMask) array {
	return hiding(t, func(g *G.ExprGraph) mask.Mask { return m.build(g, new(int)) }, z.shape(0)...)
}
