package graph_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"attention/graph"
	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// parts splits x into widths 2, 1 and 4 and joins the chosen ones.
func parts(chosen ...int) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) {
		parts, err := graph.Split(in[0], 2, 1, 4)
		if err != nil {
			return nil, err
		}
		var join G.Nodes
		for _, i := range chosen {
			join = append(join, parts[i])
		}
		if len(join) == 1 {
			return join[0], nil
		}
		return graph.Concat(join...)
	}
}

func naiveParts(chosen ...int) func(in []array) array {
	from, widths := []int{0, 2, 3}, []int{2, 1, 4}
	return func(in []array) array {
		x, parts := in[0].rows(), []array{}
		for _, i := range chosen {
			part := in[0].like(widths[i])
			for r, to := 0, part.rows(); r < x.shape[0]; r++ {
				for c := range widths[i] {
					to.v[to.i(r, c)] = x.at(r, from[i]+c)
				}
			}
			parts = append(parts, part)
		}
		return naiveConcat(parts)
	}
}

// splitBy returns the parts of x joined in the opposite order.
func splitBy(widths ...int) func(x *G.Node) (*G.Node, error) {
	return func(x *G.Node) (*G.Node, error) {
		parts, err := graph.Split(x, widths...)
		if err != nil {
			return nil, err
		}
		slices.Reverse(parts)
		return graph.Concat(parts...)
	}
}

func rowsBy(from, n int) func(x *G.Node) (*G.Node, error) {
	return func(x *G.Node) (*G.Node, error) { return graph.Rows(x, from, n) }
}

// rows adds up runs of n rows with different first rows.
func rows(n int, from ...int) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (sum *G.Node, err error) {
		for _, at := range from {
			y, err := graph.Rows(in[0], at, n)
			if err != nil {
				return nil, err
			}
			if sum == nil {
				sum = y
			} else if sum, err = graph.Add(sum, y); err != nil {
				return nil, err
			}
		}
		return sum, nil
	}
}

func naiveRows(n int, from ...int) func(in []array) array {
	return func(in []array) array {
		y := zeros(append([]int{n}, in[0].shape[1:]...)...)
		for _, at := range from {
			for i := range y.v {
				y.v[i] += in[0].v[at*len(in[0].v)/in[0].shape[0]+i]
			}
		}
		return y
	}
}

// Rows that overlap in every way, added up and joined side by side.
func TestOverlappingRows(t *testing.T) {
	x := of([]float64{1, 2, 3, 4, 5, 6, 7})
	for _, runs := range [][][2]int{ // from, n
		{{0, 7}, {2, 3}},
		{{2, 3}, {0, 7}},
		{{1, 2}, {1, 4}},
		{{0, 3}, {2, 2}, {3, 4}},
		{{5, 2}, {0, 1}, {0, 6}},
	} {
		want, dout := make([]float64, 7), []float64{}
		join := func(x *G.Node) (*G.Node, error) {
			var ys G.Nodes
			for _, run := range runs {
				y, err := graph.Rows(x, run[0], run[1])
				require.NoError(t, err)
				ys = append(ys, y)
			}
			return graph.Concat(ys...)
		}
		for _, run := range runs {
			for i := range run[1] {
				dout = append(dout, float64(len(dout)+1))
				want[run[0]+i] += dout[len(dout)-1]
			}
		}
		_, dx := through(t, join, x, of(dout), tensor.Float64)
		require.Equal(t, want, dx.v, "%v", runs)
	}
}

// Rows of a result of the machine need no memory of their own.
func TestRowsAreAView(t *testing.T) {
	g, a := G.NewGraph(), normal(random(1), 5, 3)
	x, err := graph.Scale(node(g, "x", a, tensor.Float64), 2)
	require.NoError(t, err)
	y, err := graph.Rows(x, 1, 3)
	require.NoError(t, err)
	m, err := machine.New(y)
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	doubled := naiveEach(a, a, func(v, _ float64) float64 { return 2 * v })
	near(t, "rows", naiveRows(3, 1)([]array{doubled}), arrayOf(t, y.Value()), 0)
	const anchor = 1
	require.Equal(t, (5*3+anchor)*8, m.Memory().Sum)
}

func TestWrongPartsAreRefused(t *testing.T) {
	b := bench{G.NewGraph()}
	refuseAll(t, []refusal{
		{call: call(one(splitBy()), b.f(2, 3)), want: "Split: widths: got [], want one or more of at least 1"},
		{call: call(one(splitBy(3, 0)), b.f(2, 3)), want: "Split: widths: got [3 0], want one or more of at least 1"},
		{call: call(one(splitBy(4, -1)), b.f(2, 3)), want: "Split: widths: got [4 -1], want one or more of at least 1"},
		{call: call(one(splitBy(1, 1)), b.f(2, 3)), want: "Split: x: shape (2, 3), want (…, 2) for widths [1 1]"},
		{call: call(one(splitBy(1, 3)), b.f(2, 3)), want: "Split: x: shape (2, 3), want (…, 4) for widths [1 3]"},
		{call: call(one(splitBy(1)), b.f()), want: "Split: x: shape (), want (…, 1) for widths [1]"},
		{call: call(one(rowsBy(0, 1)), b.f()), want: "Rows: x: shape (), want (R, …)"},
		{call: call(one(rowsBy(-1, 1)), b.f(5, 3)), want: "Rows: from: got -1, want 0 <= from < R=5"},
		{call: call(one(rowsBy(5, 1)), b.f(5, 3)), want: "Rows: from: got 5, want 0 <= from < R=5"},
		{call: call(one(rowsBy(2, 0)), b.f(5, 3)), want: "Rows: n: got 0, want 1 <= n <= 3, as many as x has from row 2 on"},
		{call: call(one(rowsBy(2, 4)), b.f(5, 3)), want: "Rows: n: got 4, want 1 <= n <= 3, as many as x has from row 2 on"},
		{call: call(one(graph.Transpose), b.f(3)), want: "Transpose: x: shape (3), want (In, Out)"},
		{call: call(one(graph.Transpose), b.f(2, 3, 5)), want: "Transpose: x: shape (2, 3, 5), want (In, Out)"},
		{call: call(one(graph.AverageHeads), b.f(2, 3)), want: "AverageHeads: weights: shape (2, 3), want (…, H, T, S)"},
	})
}

func splitCases() []opCase {
	return []opCase{
		{name: "split", op: parts(2, 1, 0), want: naiveParts(2, 1, 0), in: shapes(s{2, 3, 7})},
		{name: "split_part", op: parts(1), want: naiveParts(1), in: shapes(s{2, 3, 7})},
		{name: "split_ends", op: parts(2, 0), want: naiveParts(2, 0), in: shapes(s{5, 7})},
		{name: "split_first", op: parts(0), want: naiveParts(0), in: shapes(s{5, 7})},
		{name: "split_twice", op: parts(1, 2, 1), want: naiveParts(1, 2, 1), in: shapes(s{2, 3, 7})},
		{name: "split_vector", op: parts(2, 1, 0), want: naiveParts(2, 1, 0), in: shapes(s{7})},
		{name: "split_row", op: parts(1, 2), want: naiveParts(1, 2), in: shapes(s{1, 7})},
		{name: "rows", op: rows(2, 1), want: naiveRows(2, 1), in: shapes(s{5, 2, 3})},
		{name: "rows_all", op: rows(5, 0), want: naiveRows(5, 0), in: shapes(s{5, 3})},
		{name: "rows_apart", op: rows(2, 3, 0), want: naiveRows(2, 3, 0), in: shapes(s{5, 3})},
		{name: "rows_overlap", op: rows(3, 1, 0, 2), want: naiveRows(3, 1, 0, 2), in: shapes(s{5, 2, 3})},
		{name: "rows_inside", op: rows(1, 4, 2), want: naiveRows(1, 4, 2), in: shapes(s{7})},
	}
}
