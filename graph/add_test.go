package graph_test

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

func addCases() []opCase {
	plus := each(func(x, y float64) float64 { return x + y })
	return []opCase{
		{name: "add", op: add, want: plus, in: shapes(s{3, 5}, s{3, 5})},
		{name: "add_bias", op: add, want: plus, in: shapes(s{2, 3, 5}, s{5})},
		{name: "add_positions", op: add, want: plus, in: shapes(s{2, 3, 5}, s{3, 5})},
		{name: "add_scalar", op: add, want: plus, in: shapes(s{2, 3}, nil)},
		{name: "add_scalars", op: add, want: plus, in: shapes(nil, nil)},
	}
}

func add(in G.Nodes) (*G.Node, error) { return graph.Add(in[0], in[1]) }
