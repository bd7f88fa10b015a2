package graph_test

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

func addCases() []opCase {
	plus := each(func(x, y float64) float64 { return x + y })
	return []opCase{
		{"add", add, plus, shapes(s{3, 5}, s{3, 5})},
		{"add_bias", add, plus, shapes(s{2, 3, 5}, s{5})},
		{"add_positions", add, plus, shapes(s{2, 3, 5}, s{3, 5})},
		{"add_scalar", add, plus, shapes(s{2, 3}, nil)},
		{"add_scalars", add, plus, shapes(nil, nil)},
	}
}

func add(in G.Nodes) (*G.Node, error) { return graph.Add(in[0], in[1]) }
