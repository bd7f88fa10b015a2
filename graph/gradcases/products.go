package gradcases

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

func products() []Case {
	weight, bias := Float("weight", 7, 5), Float("bias", 7)
	linear := func(in G.Nodes) (*G.Node, error) { return graph.Linear(in[0], in[1], nil) }
	biased := func(in G.Nodes) (*G.Node, error) { return graph.Linear(in[0], in[1], in[2]) }
	return []Case{
		{Op: "MatMul", About: "2-D", Inputs: pair("a", s{3, 5}, "b", s{5, 7}), Apply: two(graph.MatMul)},
		{Op: "MatMul", About: "3-D by 2-D", Inputs: pair("a", s{2, 3, 5}, "b", s{5, 7}), Apply: two(graph.MatMul)},
		{Op: "MatMul", About: "4-D by 2-D", Inputs: pair("a", s{2, 3, 2, 5}, "b", s{5, 7}), Apply: two(graph.MatMul)},
		{Op: "MatMul", About: "3-D batched", Inputs: pair("a", s{2, 3, 5}, "b", s{2, 5, 7}), Apply: two(graph.MatMul)},
		{Op: "MatMul", About: "4-D batched", Inputs: pair("a", s{2, 3, 2, 5}, "b", s{2, 3, 5, 7}), Apply: two(graph.MatMul)},
		{Op: "MatMul", About: "one row, one column", Inputs: pair("a", s{2, 1, 5}, "b", s{2, 5, 1}),
			Apply: two(graph.MatMul)},
		{Op: "MatMul", About: "x by itself", Inputs: x(2, 3, 3), Apply: twice(graph.MatMul)},
		{Op: "Scores", About: "2-D", Inputs: pair("q", s{3, 5}, "k", s{7, 5}), Apply: two(graph.Scores)},
		{Op: "Scores", About: "3-D", Inputs: pair("q", s{2, 3, 5}, "k", s{2, 7, 5}), Apply: two(graph.Scores)},
		{Op: "Scores", About: "4-D", Inputs: pair("q", s{2, 3, 2, 5}, "k", s{2, 3, 7, 5}), Apply: two(graph.Scores)},
		{Op: "Scores", About: "T=1", Inputs: pair("q", s{2, 1, 5}, "k", s{2, 7, 5}), Apply: two(graph.Scores)},
		{Op: "Linear", About: "3-D, bias", Inputs: []Input{Float("x", 2, 3, 5), weight, bias}, Apply: biased},
		{Op: "Linear", About: "2-D", Inputs: []Input{Float("x", 3, 5), weight}, Apply: linear},
		{Op: "Linear", About: "4-D, bias", Inputs: []Input{Float("x", 2, 3, 2, 5), weight, bias}, Apply: biased},
		{Op: "Linear", About: "one vector", Inputs: []Input{Float("x", 5), weight, bias}, Apply: biased},
	}
}
