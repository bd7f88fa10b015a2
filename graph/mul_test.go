package graph_test

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

func mulCases() []opCase {
	return []opCase{
		{name: "mul", op: func(in G.Nodes) (*G.Node, error) { return graph.Mul(in[0], in[1]) },
			want: each(func(x, y float64) float64 { return x * y }), in: shapes(s{2, 3, 5}, s{2, 3, 5})},
	}
}
