package graph_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// masking makes a mask in a graph.
type masking func(g *G.ExprGraph) mask.Mask

// is a mask without nodes.
func is(m mask.Mask) masking { return func(*G.ExprGraph) mask.Mask { return m } }

func keys(x input) masking {
	return func(g *G.ExprGraph) mask.Mask {
		return mask.KeyLengths{Lengths: node(g, "lengths", x.array, tensor.Int)}
	}
}

func within(query, key input) masking {
	return func(g *G.ExprGraph) mask.Mask {
		return mask.Segments{Query: node(g, "query", query.array, tensor.Int64),
			Key: node(g, "key", key.array, tensor.Int64)}
	}
}

func keeping(x array) masking {
	return func(g *G.ExprGraph) mask.Mask { return mask.Keep{Keep: node(g, "keep", x, tensor.Float32)} }
}

func fillBy(m mask.Mask) func(x *G.Node) (*G.Node, error) {
	return func(x *G.Node) (*G.Node, error) { return graph.MaskFill(x, m) }
}

// hiding computes MaskFill of zeros, of a mask and scores (B, H, T, S).
func hiding(t testing.TB, m masking, shape ...int) array {
	t.Helper()
	return compute(t, func(in G.Nodes) (*G.Node, error) { return graph.MaskFill(in[0], m(in[0].Graph())) },
		zeros(shape...))
}

// printed has a line for each query, # for the keys it sees and - for the others.
func printed(x array) string {
	var b strings.Builder
	for i, v := range x.v {
		if i > 0 && i%x.axis(-1) == 0 {
			b.WriteByte('\n')
		}
		switch {
		case v == 0:
			b.WriteByte('#')
		case math.IsInf(v, -1):
			b.WriteByte('-')
		default:
			fmt.Fprint(&b, v)
		}
	}
	return b.String()
}

// What each mask looks like.
func TestMasksPrinted(t *testing.T) {
	prefixed := mask.Or(mask.Causal{}, mask.Prefix{N: 2})
	for _, c := range []struct {
		mask masking
		t, s int
		want string // a line for each query
	}{
		{mask: is(nil), t: 2, s: 3, want: "###\n###"},
		{mask: is(mask.All{}), t: 2, s: 3, want: "###\n###"},
		{mask: is(mask.Causal{}), t: 4, s: 4, want: "#---\n##--\n###-\n####"},
		{mask: is(mask.Causal{Align: mask.UpperLeft}), t: 2, s: 4, want: "#---\n##--"},
		{mask: is(mask.Causal{Align: mask.UpperLeft}), t: 4, s: 2, want: "#-\n##\n##\n##"},
		{mask: is(mask.Causal{Align: mask.LowerRight}), t: 2, s: 4, want: "###-\n####"},
		{mask: is(mask.SlidingWindow{Left: 1}), t: 4, s: 4, want: "#---\n##--\n-##-\n--##"},
		{mask: is(mask.SlidingWindow{Right: 1}), t: 3, s: 3, want: "##-\n-##\n--#"},
		{mask: is(mask.SlidingWindow{}), t: 3, s: 3, want: "#--\n-#-\n--#"},
		{mask: is(mask.SlidingWindow{Left: 1, Align: mask.UpperLeft}), t: 4, s: 2, want: "#-\n##\n-#\n--"},
		{mask: is(mask.SlidingWindow{Left: 1, Right: 1, Align: mask.LowerRight}), t: 2, s: 5, want: "--###\n---##"},
		{mask: is(mask.SlidingWindow{Left: math.MaxInt}), t: 3, s: 3, want: "#--\n##-\n###"},
		{mask: is(mask.SlidingWindow{Left: math.MaxInt, Right: math.MaxInt}), t: 2, s: 2, want: "##\n##"},
		{mask: is(mask.Prefix{}), t: 1, s: 3, want: "---"},
		{mask: is(mask.Prefix{N: 2}), t: 2, s: 3, want: "##-\n##-"},
		{mask: is(mask.Prefix{N: math.MaxInt}), t: 1, s: 3, want: "###"},
		{mask: is(prefixed), t: 4, s: 4, want: "##--\n##--\n###-\n####"},
		{mask: is(mask.Not(mask.Causal{})), t: 3, s: 3, want: "-##\n--#\n---"},
		{mask: is(mask.Not(mask.SlidingWindow{Left: 1})), t: 4, s: 4, want: "-###\n--##\n#--#\n##--"},
		{mask: is(mask.And(mask.Causal{}, mask.SlidingWindow{Right: 2}, mask.Prefix{N: 2})), t: 3, s: 3,
			want: "#--\n-#-\n---"},
		{mask: keys(ids([]float64{2}, 1)), t: 2, s: 3, want: "##-\n##-"},
		{mask: keys(ids([]float64{0}, 1)), t: 1, s: 3, want: "---"},
		{mask: keys(ids([]float64{3}, 1)), t: 1, s: 3, want: "###"},
		{mask: within(ids([]float64{5, 7, 5}, 1, 3), ids([]float64{5, 5, 7, 5, -1}, 1, 5)), t: 3, s: 5,
			want: "##-#-\n--#--\n##-#-"},
		{mask: within(ids([]float64{1, 2}, 1, 2), ids([]float64{2, 2}, 1, 2)), t: 2, s: 2, want: "--\n##"},
		{mask: keeping(of([]float64{1, 0, 1})), t: 2, s: 3, want: "#-#\n#-#"},
		{mask: keeping(of([]float64{1, 0}, 2, 1)), t: 2, s: 3, want: "###\n---"},
		{mask: keeping(array{nil, []float64{0}}), t: 2, s: 2, want: "--\n--"},
		{mask: keeping(array{nil, []float64{1}}), t: 2, s: 2, want: "##\n##"},
	} {
		require.Equal(t, c.want, printed(hiding(t, c.mask, 1, 1, c.t, c.s)), "%#v of %d queries, %d keys",
			c.mask(G.NewGraph()), c.t, c.s)
	}
}

// Every batch and every head has a mask of its own, if the mask's nodes have their axes.
func TestMasksOfBatchesAndHeads(t *testing.T) {
	require.Equal(t, "#--\n###\n#--\n###\n---\n#--\n---\n#--",
		printed(hiding(t, func(g *G.ExprGraph) mask.Mask {
			return mask.And(keys(ids([]float64{3, 1}, 2))(g), keeping(of([]float64{1, 0, 0, 1, 1, 1}, 2, 3))(g),
				mask.Not(keeping(of([]float64{0, 0, 1, 0}, 2, 1, 2, 1))(g)))
		}, 2, 2, 2, 3)))
	require.Equal(t, "#-\n-#", printed(hiding(t, keeping(of([]float64{1, 0, 0, 1}, 2, 1, 2)), 2, 1, 2)),
		"three axes: no heads'")
	require.Equal(t, "#-\n-#", printed(hiding(t, keeping(of([]float64{1, 0, 0, 1}, 2, 1, 2)), 1, 2, 1, 2)),
		"four axes: the heads'")
}

// All masks, of all small lengths, are their definitions.
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

// table is what a drawn mask does to zeros.
func (z sizes) table(t testing.TB, m drawnMask) array {
	return hiding(t, func(g *G.ExprGraph) mask.Mask { return m.build(g, new(int)) }, z.shape(0)...)
}

// And, Or and Not are those of logic.
func TestLawsOfMasks(t *testing.T) {
	and := func(of ...drawnMask) drawnMask { return drawnMask{kind: "and", of: of} }
	or := func(of ...drawnMask) drawnMask { return drawnMask{kind: "or", of: of} }
	not := func(of drawnMask) drawnMask { return drawnMask{kind: "not", of: []drawnMask{of}} }
	all := drawnMask{kind: "all"}
	none := not(all)
	rapid.Check(t, func(rt *rapid.T) {
		d := newDrawing(rt)
		z := sizes{batch: []int{2}, heads: true, H: 2, T: d.int("T", 1, 5), S: d.int("S", 1, 5)}
		a, b, c := d.mask(z, 2), d.mask(z, 2), d.mask(z, 1)
		for name, law := range map[string][2]drawnMask{
			"a ∧ b = b ∧ a":                 {and(a, b), and(b, a)},
			"a ∨ b = b ∨ a":                 {or(a, b), or(b, a)},
			"a ∧ b ∧ c = a ∧ (b ∧ c)":       {and(a, b, c), and(a, and(b, c))},
			"a ∨ b ∨ c = a ∨ (b ∨ c)":       {or(a, b, c), or(a, or(b, c))},
			"a ∧ (b ∨ c) = a ∧ b ∨ a ∧ c":   {and(a, or(b, c)), or(and(a, b), and(a, c))},
			"a ∨ b ∧ c = (a ∨ b) ∧ (a ∨ c)": {or(a, and(b, c)), and(or(a, b), or(a, c))},
			"¬(a ∧ b) = ¬a ∨ ¬b":            {not(and(a, b)), or(not(a), not(b))},
			"¬(a ∨ b) = ¬a ∧ ¬b":            {not(or(a, b)), and(not(a), not(b))},
			"¬¬a = a":                       {not(not(a)), a},
			"a ∧ a = a":                     {and(a, a), a},
			"a ∧ all = a":                   {and(a, all), a},
			"a ∨ all = all":                 {or(a, all), all},
			"a ∨ none = a":                  {or(a, none), a},
			"a ∧ ¬a = none":                 {and(a, not(a)), none},
			"a ∨ ¬a = all":                  {or(a, not(a)), all},
		} {
			s := shrinking{t, rt}
			if l, r := printed(z.table(s, law[0])), printed(z.table(s, law[1])); l != r {
				rt.Fatalf("%s\na = %+v\nb = %+v\nc = %+v\nleft\n%s\nright\n%s", name, a, b, c, l, r)
			}
		}
	})
}
