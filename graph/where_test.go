package graph_test

import (
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func where(in G.Nodes) (*G.Node, error) { return graph.Where(in[0], in[1], in[2]) }

// conditioned puts a condition of zeros and ones before the inputs.
func conditioned(condition []float64, shape s, rest ...s) func(r *rand.Rand) []input {
	return func(r *rand.Rand) []input {
		return append([]input{{array: array{shape, condition}, integer: true}}, shapes(rest...)(r)...)
	}
}

func whereCases() []opCase {
	want := func(in []array) array {
		return naiveBroadcast(in, func(v []float64) float64 {
			if v[0] != 0 {
				return v[1]
			}
			return v[2]
		})
	}
	return []opCase{
		{name: "where", op: where, want: want, in: conditioned([]float64{1, 0, 0, 1, 1, 0}, s{2, 3}, s{2, 3}, s{2, 3})},
		{name: "where_rows", op: where, want: want, in: conditioned([]float64{1, 0, 1}, s{3, 1}, s{2, 1, 5}, s{3, 5})},
		{name: "where_scalar", op: where, want: want, in: conditioned([]float64{1, 0, 1}, s{3}, s{2, 3}, nil)},
		{name: "where_one", op: where, want: want, in: conditioned([]float64{0}, nil, s{5}, s{2, 1})},
	}
}

// Elements that are not chosen influence neither the result nor a gradient, even if they are not finite; a condition
// may have any type.
func TestWhereChooses(t *testing.T) {
	x, y, dz := of([]float64{1, nan, 3, inf}), of([]float64{inf, 6, nan, 8}), of([]float64{1, 2, nan, 4})
	for _, dt := range mask.KeepTypes() {
		for _, p := range tolerances {
			g := G.NewGraph()
			condition := node(g, "condition", of([]float64{1, 0, 1, 0}), dt)
			in := G.Nodes{node(g, "x", x, p.dt), node(g, "y", y, p.dt)}
			z, err := graph.Where(condition, in[0], in[1])
			require.NoError(t, err)
			grads, err := G.Backpropagate(G.Nodes{z}, G.Nodes{node(g, "dz", dz, p.dt)}, in)
			require.NoError(t, err)
			e := expression{g: g, out: z, grads: grads}
			for _, got := range []result{e.onOurs(t), e.onTape(t)} {
				require.Equal(t, []float64{1, 6, 3, 8}, got.out.v, "%v", dt)
				near(t, dt.String(), of([]float64{1, 0, nan, 0}), got.grads[0], 0)
				require.Equal(t, []float64{0, 2, 0, 4}, got.grads[1].v, "%v", dt)
			}
		}
	}
}

func TestWrongConditionsAreRefused(t *testing.T) {
	b := bench{G.NewGraph()}
	of := func(in ...*G.Node) (*G.Node, error) { return where(in) }
	refuseAll(t, []refusal{
		{call: call(of, b.of(tensor.String, 3), b.f(3), b.f(3)),
			want: "Where: condition: got string, want bools, integers or floats"},
		{call: call(of, b.ids(2), b.f(3), b.f(3)), want: "Where: x: shape (3), want one that broadcasts with (2)"},
		{call: call(of, b.ids(2, 1), b.f(3), b.f(2)), want: "Where: y: shape (2), want one that broadcasts with (2, 3)"},
	})
}
