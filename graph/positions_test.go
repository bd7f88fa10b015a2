package graph_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// positionsOf returns the position of every row of x, for any form of positions.
func positionsOf(in []array) func(row int) float64 {
	x := in[0]
	t := x.axis(-2)
	return func(row int) float64 {
		switch {
		case len(in) < 2:
			return float64(row % t)
		case len(in[1].shape) == 0:
			return in[1].v[0] + float64(row%t)
		case len(in[1].shape) == 1:
			return in[1].v[row%t]
		}
		return in[1].v[row]
	}
}

// place returns inputs x (2, 3, 5, width) and positions in one of the forms.
func place(kind string, width int) func(r *rand.Rand) []input {
	x := shapes(s{2, 3, 5, width})
	switch kind {
	case "start":
		return then(x, key(17))
	case "negative start":
		return then(x, key(-3))
	case "rows":
		return then(x, ids([]float64{3, -1, 4, 1, 5}))
	case "batches":
		return func(r *rand.Rand) []input {
			p := zeros(2, 3, 5)
			for i := range p.v {
				p.v[i] = float64(r.IntN(200) - 100)
			}
			return append(x(r), input{array: p, integer: true})
		}
	}
	return x
}

// second returns the second input, or nil.
func second(in G.Nodes) *G.Node {
	if len(in) < 2 {
		return nil
	}
	return in[1]
}

// Equal positions give equal bits in every form.
func TestEqualPositionsGiveEqualBits(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	x, dout := normal(r, 2, 3, 6), normal(r, 2, 3, 6)
	for name, op := range map[string]func(in G.Nodes) (*G.Node, error){
		"RoPE":          rotate(graph.RoPEConfig{Heads: 3}),
		"AddSinusoidal": func(in G.Nodes) (*G.Node, error) { return graph.AddSinusoidal(in[0], second(in)) },
	} {
		run := func(positions ...input) result {
			in := append(inputs(x), positions...)
			e := express(t, op, in, tensor.Float64)
			e.differentiate(t, in, dout, tensor.Float64)
			return e.onOurs(t)
		}
		for start := range 2 {
			p := float64(start)
			want := run(key(p))
			same := [][]input{{ids([]float64{p, p + 1, p + 2})}, {ids([]float64{p, p + 1, p + 2, p, p + 1, p + 2}, 2, 3)}}
			if start == 0 {
				same = append(same, nil)
			}
			for i, positions := range same {
				got := run(positions...)
				require.Equal(t, bits(want.out), bits(got.out), "%s, %d", name, i)
				require.Equal(t, bits(want.grads[0]), bits(got.grads[0]), "%s, %d", name, i)
			}
		}
		require.NotEqual(t, run(key(0)).out.v, run(key(1)).out.v)
	}
}

// A start that is set for each run moves the rows, as with key/value caches. It may be an int.
func TestStartIsFedAnew(t *testing.T) {
	g := G.NewGraph()
	x := normal(rand.New(rand.NewPCG(9, 10)), 5, 6)
	all, err := graph.RoPE(node(g, "all", x, tensor.Float64), nil, graph.RoPEConfig{})
	require.NoError(t, err)
	row := node(g, "row", zeros(1, 6), tensor.Float64)
	start := G.NewScalar(g, tensor.Int, G.WithName("start"))
	turned, err := graph.RoPE(row, start, graph.RoPEConfig{})
	require.NoError(t, err)
	want := valueOf(t, all)
	for at := range 5 {
		require.NoError(t, G.Let(row, of(x.v[at*6:(at+1)*6], 1, 6).dense(tensor.Float64)))
		require.NoError(t, G.Let(start, at))
		require.Equal(t, want.v[at*6:(at+1)*6], valueOf(t, turned).v, "position %d", at)
	}
}

// The first position of each sequence determines those that follow.
func TestFirstPositions(t *testing.T) {
	x := normal(rand.New(rand.NewPCG(11, 12)), 2, 3, 6)
	g := G.NewGraph()
	for name, op := range map[string]func(x, positions *G.Node) (*G.Node, error){
		"RoPE":          func(x, p *G.Node) (*G.Node, error) { return graph.RoPE(x, p, graph.RoPEConfig{}) },
		"AddSinusoidal": graph.AddSinusoidal,
	} {
		all, err := op(node(g, name, x, tensor.Float64),
			node(g, name+" all", of([]float64{4, 5, 6, 1, 2, 3}, 2, 3), tensor.Int))
		require.NoError(t, err)
		first, err := op(node(g, name, x, tensor.Float64), node(g, name+" first", of([]float64{4, 1}, 2, 1), tensor.Int))
		require.NoError(t, err)
		require.Equal(t, valueOf(t, all).v, valueOf(t, first).v, name)
	}
}

func TestWrongPositionsAreRefused(t *testing.T) {
	b := bench{G.NewGraph()}
	for name, op := range map[string]func(x, positions *G.Node) (*G.Node, error){
		"RoPE":          func(x, p *G.Node) (*G.Node, error) { return graph.RoPE(x, p, graph.RoPEConfig{}) },
		"AddSinusoidal": graph.AddSinusoidal,
	} {
		for _, c := range []struct {
			x, positions *G.Node
			want         string
		}{
			{x: b.f(2, 3, 4), positions: b.ids(2), want: "positions: shape (2), want (), (3), (2, 3) or (2, 1)"},
			{x: b.f(2, 3, 4), positions: b.ids(3, 2), want: "positions: shape (3, 2), want (), (3), (2, 3) or (2, 1)"},
			{x: b.f(2, 3, 4), positions: b.ids(2, 3, 4), want: "positions: shape (2, 3, 4), want (), (3), (2, 3) or (2, 1)"},
			{x: b.f(3, 4), positions: b.ids(1), want: "positions: shape (1), want () or (3)"},
			{x: b.f(2, 3, 4), positions: b.f(3), want: "positions: got float64, want int or int64"},
			{x: b.f(2, 3, 4), positions: b.of(tensor.Int32, 3), want: "positions: got int32, want int or int64"},
			{x: b.f(2, 3, 4), positions: bench{G.NewGraph()}.ids(3),
				want: "positions: got a node of another graph, want one of x's"},
		} {
			n, err := op(c.x, c.positions)
			require.EqualError(t, err, fmt.Sprintf("graph: %s: %s", name, c.want))
			require.Nil(t, n)
		}
	}
}
