package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

func expand(T, S int) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) { return graph.ExpandRelativeBias(in[0], T, S) }
}

func naiveExpand(T, S int) func(in []array) array {
	return func(in []array) array {
		y := zeros(in[0].shape[0], T, S)
		for h := range y.shape[0] {
			for t := range T {
				for s := range S {
					y.v[y.i(h, t, s)] = in[0].at(h, t-s+S-1)
				}
			}
		}
		return y
	}
}

// t5 returns T5's bias for all pairs.
func t5(c graph.T5Config) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) {
		bias, err := graph.T5RelativeBias(in[0], c)
		if err != nil {
			return nil, err
		}
		return graph.ExpandRelativeBias(bias, c.T, c.S)
	}
}

// naiveT5 finds the bucket by counting instead of a logarithm. Each side has n buckets, e of them for one distance
// each; the bucket of distance d is at least e + j if (d/e)ⁿ⁻ᵉ ≥ (longest/e)ʲ.
func naiveT5(c graph.T5Config) func(in []array) array {
	return func(in []array) array {
		table, y := in[0], zeros(in[0].shape[1], c.T, c.S)
		longest := float64(c.MaxDistance)
		if longest == 0 {
			longest = 128
		}
		for t := range c.T {
			for s := range c.S {
				first, n, d := 0, table.shape[0], t+c.Offset-s
				if !c.Unidirectional {
					n /= 2
					if d < 0 {
						first, d = n, -d
					}
				}
				b, e := max(d, 0), n/2
				if b >= e {
					ratio := math.Pow(float64(b)/float64(e), float64(n-e))
					for b = e; b < n-1 && ratio >= math.Pow(longest/float64(e), float64(b+1-e))*(1-1e-9); {
						b++
					}
				}
				for h := range y.shape[0] {
					y.v[y.i(h, t, s)] = table.at(first+b, h)
				}
			}
		}
		return y
	}
}

func biasCases() []opCase {
	var cases []opCase
	addT5 := func(name string, c graph.T5Config, buckets int) {
		cases = append(cases, opCase{name: name, op: t5(c), want: naiveT5(c), in: shapes(s{buckets, 3})})
	}
	addT5("t5", graph.T5Config{T: 31, S: 37, MaxDistance: 20}, 8)
	addT5("t5_decoder", graph.T5Config{T: 1, S: 150, Offset: 149, Unidirectional: true}, 32)
	addT5("t5_offset", graph.T5Config{T: 5, S: 7, Offset: -60}, 32)
	addT5("t5_one_key", graph.T5Config{T: 151, S: 1, Unidirectional: true, MaxDistance: 64}, 7)
	addT5("t5_fewest_buckets", graph.T5Config{T: 13, S: 17, MaxDistance: 2}, 4)
	for name, c := range map[string][3]int{
		"expand": {3, 5, 7}, "expand_one": {1, 7, 5}, "expand_query": {3, 1, 7}, "expand_key": {3, 7, 1},
		"expand_number": {1, 1, 1},
		"expand_large":  {3, 211, 197}, "expand_wide": {1, 2, 33013}, "expand_tall": {1, 33013, 2}, // several blocks
	} {
		h, T, S := c[0], c[1], c[2]
		cases = append(cases, opCase{name: name, op: expand(T, S), want: naiveExpand(T, S), in: shapes(s{h, T + S - 1})})
	}
	return cases
}

// The gradient of a long diagonal is the sum over the whole diagonal, whatever blocks it crosses.
func TestExpandedBiasGathersDiagonals(t *testing.T) {
	for _, c := range [][3]int{{3, 211, 197}, {1, 2, 33013}, {2, 33013, 2}, {3, 1, 1}} {
		h, T, S := c[0], c[1], c[2]
		r := rand.New(rand.NewPCG(1, 2))
		in, dout := inputs(normal(r, h, T+S-1)), normal(r, h, T, S)
		want := zeros(h, T+S-1)
		for i, v := range dout.v {
			want.v[want.i(i/(T*S), i/S%T-i%S+S-1)] += v
		}
		for _, p := range tolerances {
			e := express(t, expand(T, S), in, p.dt)
			e.differentiate(t, in, dout, p.dt)
			near(t, fmt.Sprint(c), want, e.onOurs(t).grads[0], 10*p.tol) // sums of up to 197 terms, which may cancel
		}
	}
}

func expandBy(T, S int) func(...*G.Node) (*G.Node, error) {
	return func(in ...*G.Node) (*G.Node, error) { return expand(T, S)(in) }
}

func TestWrongBiasesAreRefused(t *testing.T) {
	b := bench{G.NewGraph()}
	both, one := graph.T5Config{T: 3, S: 5}, graph.T5Config{T: 3, S: 5, Unidirectional: true}
	const even, two = "(Buckets, H) with an even number of buckets, 4 or more", "(Buckets, H) with 2 buckets or more"
	for _, c := range []refusal{
		{call: call(t5By(both), b.f(4)), want: "T5RelativeBias: table: shape (4), want " + even},
		{call: call(t5By(both), b.f(7, 3)), want: "T5RelativeBias: table: shape (7, 3), want " + even},
		{call: call(t5By(both), b.f(2, 3)), want: "T5RelativeBias: table: shape (2, 3), want " + even},
		{call: call(t5By(one), b.f(1, 3)), want: "T5RelativeBias: table: shape (1, 3), want " + two},
		{call: call(t5By(one), b.f(2, 3, 4)), want: "T5RelativeBias: table: shape (2, 3, 4), want " + two},
		{call: call(t5By(graph.T5Config{S: 5}), b.f(4, 3)), want: "T5RelativeBias: lengths: got T=0, S=5, want at least 1"},
		{call: call(t5By(graph.T5Config{T: 3, S: -1}), b.f(4, 3)),
			want: "T5RelativeBias: lengths: got T=3, S=-1, want at least 1"},
		{call: call(t5By(graph.T5Config{T: 3, S: 5, MaxDistance: -1}), b.f(4, 3)),
			want: "T5RelativeBias: MaxDistance: got -1, want more than the 1 distances that have a bucket each"},
		{call: call(t5By(graph.T5Config{T: 3, S: 5, MaxDistance: 8}), b.f(32, 3)),
			want: "T5RelativeBias: MaxDistance: got 8, want more than the 8 distances that have a bucket each"},
		{call: call(expandBy(0, 3), b.f(2, 3)), want: "ExpandRelativeBias: lengths: got T=0, S=3, want at least 1"},
		{call: call(expandBy(3, 0), b.f(2, 3)), want: "ExpandRelativeBias: lengths: got T=3, S=0, want at least 1"},
		{call: call(expandBy(3, 5), b.f(2, 8)), want: "ExpandRelativeBias: bias: shape (2, 8), want (H, T+S−1=7)"},
		{call: call(expandBy(3, 5), b.f(7)), want: "ExpandRelativeBias: bias: shape (7), want (H, T+S−1=7)"},
	} {
		n, err := c.call()
		require.EqualError(t, err, "graph: "+c.want)
		require.Nil(t, n)
	}
}
