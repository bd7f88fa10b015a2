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

func topKBy(k int) func(x *G.Node) (*G.Node, error) {
	return func(x *G.Node) (*G.Node, error) {
		values, _, err := graph.TopK(x, k)
		return values, err
	}
}

func topKCases() []opCase {
	largest := func(k int) func(in []array) array {
		return func(in []array) array {
			x := in[0].rows()
			y := zeros(in[0].lead(1, k)...)
			for i := range x.shape[0] {
				row := slices.Clone(x.v[i*x.shape[1]:][:x.shape[1]])
				slices.Sort(row)
				slices.Reverse(row)
				copy(y.v[i*k:], row[:k])
			}
			return y
		}
	}
	return []opCase{
		{name: "topk", op: unary(topKBy(3)), want: largest(3), in: shapes(s{2, 3, 7})},
		{name: "topk_one", op: unary(topKBy(1)), want: largest(1), in: shapes(s{2, 3, 7})},
		{name: "topk_all", op: unary(topKBy(7)), want: largest(7), in: shapes(s{7})},
	}
}

// computed runs an op on a node that has a value.
func computed(t *testing.T, op func(x *G.Node) (*G.Node, error), x *G.Node) array {
	t.Helper()
	y, err := op(x)
	require.NoError(t, err)
	return onBoth(t, y)
}

// onBoth returns the value of a node on both machines, which agree.
func onBoth(t *testing.T, y *G.Node) array {
	t.Helper()
	m, err := machine.New(y)
	require.NoError(t, err)
	defer m.Close()
	require.NoError(t, m.RunAll())
	got := intsOf(t, y.Value())
	tape := G.NewTapeMachine(y.Graph())
	defer tape.Close()
	require.NoError(t, tape.RunAll())
	require.Equal(t, bits(intsOf(t, y.Value())), bits(got))
	return got
}

// intsOf is arrayOf for ids too.
func intsOf(t *testing.T, v G.Value) array {
	t.Helper()
	if v.Dtype() != tensor.Int {
		return arrayOf(t, v)
	}
	a := array{shape: slices.Clone([]int(v.Shape()))}
	switch ids := v.Data().(type) {
	case int:
		a.v = append(a.v, float64(ids))
	case []int:
		for _, id := range ids {
			a.v = append(a.v, float64(id))
		}
	}
	return a
}

func TestArgMax(t *testing.T) {
	x := of([]float64{1, 7, 7, 2, nan, 0, 3, nan, -inf, -inf, -inf, -inf}, 3, 4)
	for _, p := range tolerances {
		for _, c := range []struct {
			config graph.ReduceConfig
			want   array
		}{
			{config: graph.ReduceConfig{Dim: []int{-1}}, want: of([]float64{1, 0, 0}, 3)},
			{config: graph.ReduceConfig{Dim: []int{0}, KeepDim: true}, want: of([]float64{1, 0, 0, 1}, 1, 4)},
			{config: graph.ReduceConfig{}, want: array{shape: []int{}, v: []float64{4}}},
		} {
			got := computed(t, func(x *G.Node) (*G.Node, error) { return graph.ArgMax(x, c.config) },
				node(G.NewGraph(), "x", x, p.dt))
			require.Equal(t, c.want.v, got.v)
			require.True(t, slices.Equal(c.want.shape, got.shape))
		}
	}
}

// The indices of equal elements, NaN and infinities, and ties at the end of the result.
func TestTopKOfEqualsAndSpecialNumbers(t *testing.T) {
	x := of([]float64{5, 9, 5, 9, 5, 2, nan, -inf, inf, nan, 3, -inf}, 2, 6)
	for _, p := range tolerances {
		in := node(G.NewGraph(), "x", x, p.dt)
		values, ids, err := graph.TopK(in, 4)
		require.NoError(t, err)
		require.Equal(t, []float64{1, 3, 0, 2, 0, 3, 2, 4}, onBoth(t, ids).v)
		near(t, "values", of([]float64{9, 9, 5, 5, nan, nan, inf, 3}, 2, 4), onBoth(t, values), 0)
		require.Equal(t, tensor.Int, ids.Dtype())
	}
}

// Long rows with many equal elements, compared with sorting.
func TestTopKOfLongRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x := zeros(5, 1000)
	for i := range x.v {
		x.v[i] = float64(r.IntN(50))
	}
	for _, k := range []int{1, 2, 17, 999, 1000} {
		_, ids, err := graph.TopK(node(G.NewGraph(), "x", x, tensor.Float32), k)
		require.NoError(t, err)
		got := onBoth(t, ids)
		for row := range 5 {
			order := make([]int, 1000)
			for i := range order {
				order[i] = i
			}
			v := x.v[row*1000:][:1000]
			slices.SortStableFunc(order, func(a, b int) int { return int(v[b] - v[a]) })
			for i, want := range order[:k] {
				require.Equal(t, float64(want), got.v[row*k+i])
			}
		}
	}
}

func TestPlacesHaveNoGradient(t *testing.T) {
	g := G.NewGraph()
	x := node(g, "x", of([]float64{1, 2, 3}), tensor.Float64)
	ids, err := graph.ArgMax(x, graph.ReduceConfig{})
	require.NoError(t, err)
	_, err = G.Backpropagate(G.Nodes{ids}, G.Nodes{node(g, "d", array{v: []float64{1}}, tensor.Int)}, G.Nodes{x})
	require.ErrorContains(t, err, "graph: ArgMax: indices have no gradient")
}

// The returned ids can be looked up in an Embedding, and the gradient stops there.
func TestEmbeddingOfArgMax(t *testing.T) {
	in := inputs(of([]float64{1, 2, 3, 9, 2, 3}, 2, 3), of([]float64{10, 20, 30}, 3, 1))
	op := func(in G.Nodes) (*G.Node, error) {
		ids, err := graph.ArgMax(in[0], graph.ReduceConfig{Dim: []int{1}})
		require.NoError(t, err)
		return graph.Embedding(in[1], ids)
	}
	e := express(t, op, in, tensor.Float64)
	e.differentiate(t, []input{{fixed: true}, {}}, of([]float64{5, 7}, 2, 1), tensor.Float64)
	got := e.onOurs(t)
	require.Equal(t, []float64{30, 10}, got.out.v)
	require.Equal(t, []float64{7, 0, 5}, got.grads[0].v)
}

func TestWrongTopKsAreRefused(t *testing.T) {
	b := bench{G.NewGraph()}
	refuseAll(t, []refusal{
		{call: call(one(topKBy(0)), b.f(2, 3)), want: "TopK: k: got 0, want 1 to S=3"},
		{call: call(one(topKBy(4)), b.f(2, 3)), want: "TopK: k: got 4, want 1 to S=3"},
		{call: call(one(topKBy(1)), b.f()), want: "TopK: x: shape (), want (…, S)"},
	})
}
