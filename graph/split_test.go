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

// rows adds up runs of n rows that begin at several rows.
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

// Rows that overlap in every way, to add up and to lay side by side.
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

// x itself, parts of it, parts of parts and rows of it, all with one gradient.
func TestPartsBesideOtherUses(t *testing.T) {
	x := of([]float64{1, 2, 3, 4, 5, 6, 7, 8}, 2, 4)
	mixed := func(x *G.Node) (*G.Node, error) {
		halves, err := graph.Split(x, 2, 2)
		require.NoError(t, err)
		quarters, err := graph.Split(halves[1], 1, 1)
		require.NoError(t, err)
		again, err := graph.Split(x, 1, 2, 1)
		require.NoError(t, err)
		row, err := graph.Rows(x, 1, 1)
		require.NoError(t, err)
		four, err := graph.Concat(quarters[1], again[1], quarters[0])
		require.NoError(t, err)
		sum, err := graph.Add(x, four)
		require.NoError(t, err)
		tail, err := graph.Rows(row, 0, 1)
		require.NoError(t, err)
		one := G.NewTensor(x.Graph(), tensor.Float64, 2, G.WithShape(4, 4), G.WithName("1"), G.WithValue(identity(4)))
		rows, err := graph.MatMul(sum, one)
		require.NoError(t, err)
		both, err := graph.PairwiseAdd(rows, tail) // (2, 1, 4)
		return both, err
	}
	dout := of([]float64{1, 10, 100, 1000, 2, 20, 200, 2000}, 2, 1, 4)
	y, dx := through(t, mixed, x, dout, tensor.Float64)
	// y[t] = x[t] + (x[t,3], x[t,1], x[t,2], x[t,2]) + x[1]
	want := []float64{1 + 4 + 5, 2 + 2 + 6, 3 + 3 + 7, 4 + 3 + 8, 5 + 8 + 5, 6 + 6 + 6, 7 + 7 + 7, 8 + 7 + 8}
	require.Equal(t, want, y.v)
	require.Equal(t, []float64{1, 20, 1200, 1001, 2 + 3, 40 + 30, 2400 + 300, 2002 + 3000}, dx.v)
}

func identity(n int) *tensor.Dense {
	a := zeros(n, n)
	for i := range n {
		a.v[a.i(i, i)] = 1
	}
	return a.dense(tensor.Float64)
}

// One gradient may be that of several parts.
func TestPartsWithOneGradient(t *testing.T) {
	_, dx := through(t, func(x *G.Node) (*G.Node, error) {
		halves, err := graph.Split(x, 2, 2)
		require.NoError(t, err)
		return graph.Add(halves[0], halves[1])
	}, of([]float64{1, 2, 3, 4}), of([]float64{5, 7}), tensor.Float64)
	require.Equal(t, []float64{5, 7, 5, 7}, dx.v)

	in := floats(of([]float64{1, 2, 3, 4}), of([]float64{5, 6, 7, 8}))
	e := express(t, func(in G.Nodes) (*G.Node, error) {
		x, err := graph.Rows(in[0], 1, 2)
		require.NoError(t, err)
		y, err := graph.Rows(in[1], 1, 2)
		require.NoError(t, err)
		return graph.Add(x, y)
	}, in, tensor.Float64)
	e.differentiate(t, in, of([]float64{5, 7}), tensor.Float64)
	for _, got := range []result{e.onOurs(t), e.onTape(t)} {
		require.Equal(t, []float64{0, 5, 7, 0}, got.grads[0].v)
		require.Equal(t, []float64{0, 5, 7, 0}, got.grads[1].v)
	}
}

// The gradients of all parts are laid side by side by one op, without a node of x's
// size for each.
func TestPartsHaveOneGradientOp(t *testing.T) {
	in := floats(normal(random(1), 2, 3, 7))
	e := express(t, parts(2, 1, 0), in, tensor.Float64)
	e.differentiate(t, in, normal(random(2), 2, 3, 7), tensor.Float64)
	require.Equal(t, "WholeGradient", e.grads[0].Op().String())
	large := 0
	for _, n := range e.g.AllNodes() {
		if n.Op() != nil && n.Shape().TotalSize() == 2*3*7 {
			large++
		}
	}
	require.Equal(t, 2, large) // the result and the gradient
}

// Rows of what a machine computes lie in its memory already.
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
