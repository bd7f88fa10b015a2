package graph_test

import (
	"slices"
	"testing"

	"attention/graph"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

func maskedMaxCases() []opCase {
	kept := of([]float64{1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 3, 1, 1, 5)
	return []opCase{
		{name: "masked_max", in: then(shapes(s{3, 5, 7}), input{array: kept, integer: true}),
			op: func(in G.Nodes) (*G.Node, error) { return graph.MaskedMax(in[0], mask.Keep{Keep: in[1]}) },
			want: func(in []array) array {
				return naiveMaskedMax(in[0], func(b, t int) bool { return in[1].at(b, 0, 0, t) == 1 })
			}},
		{name: "masked_max_lengths", in: then(shapes(s{3, 5, 7}), ids([]float64{4, 0, 5})),
			op: func(in G.Nodes) (*G.Node, error) { return graph.MaskedMax(in[0], mask.KeyLengths{Lengths: in[1]}) },
			want: func(in []array) array {
				return naiveMaskedMax(in[0], func(b, t int) bool { return t < int(in[1].v[b]) })
			}},
		{name: "masked_max_all", in: shapes(s{5, 7}),
			op:   unary(func(x *G.Node) (*G.Node, error) { return graph.MaskedMax(x, nil) }),
			want: func(in []array) array { return naiveMaskedMax(in[0], func(int, int) bool { return true }) }},
	}
}

func naiveMaskedMax(x array, shown func(b, t int) bool) array {
	y, x := zeros(x.lead(2, x.axis(-1))...), x.matrices()
	for b := range x.shape[0] {
		for e := range x.shape[2] {
			var seen []float64
			for t := range x.shape[1] {
				if shown(b, t) {
					seen = append(seen, x.at(b, t, e))
				}
			}
			if len(seen) > 0 {
				y.v[b*x.shape[2]+e] = slices.Max(seen)
			}
		}
	}
	return y
}

// Hidden tokens influence neither the maximum nor a gradient; equal elements share the gradient.
func TestMaskedMaxHidesWhatIsNotFinite(t *testing.T) {
	x := of([]float64{1, nan, 2, inf, 3, nan, nan, -inf, inf, 5, 5, 5}, 3, 4, 1)
	keep := input{array: of([]float64{1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0}, 3, 1, 1, 4), fixed: true}
	for _, p := range tolerances {
		in := []input{{array: x}, keep}
		e := express(t, func(in G.Nodes) (*G.Node, error) { return graph.MaskedMax(in[0], mask.Keep{Keep: in[1]}) }, in, p.dt)
		e.differentiate(t, in, of([]float64{7, inf, 3}, 3, 1), p.dt)
		got := e.onOurs(t)
		require.Equal(t, []float64{2, 0, 5}, got.out.v)
		require.Equal(t, []float64{0, 0, 7, 0, 0, 0, 0, 0, 0, 1.5, 1.5, 0}, got.grads[0].v)
	}
}
