package gradcases

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

func elements() []Case {
	keep := Fixed("keep", []float64{1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 0, 0, 0, 1}, 3, 5)
	return []Case{
		{Op: "Add", About: "one shape", Inputs: pair("x", s{2, 3, 5}, "y", s{2, 3, 5}), Apply: two(graph.Add)},
		{Op: "Add", About: "bias", Inputs: pair("x", s{2, 3, 5}, "y", s{5}), Apply: two(graph.Add)},
		{Op: "Add", About: "positions", Inputs: pair("x", s{2, 3, 5}, "y", s{3, 5}), Apply: two(graph.Add)},
		{Op: "Add", About: "x + x", Inputs: x(2, 3), Apply: twice(graph.Add)},
		{Op: "Mul", About: "one shape", Inputs: pair("x", s{2, 3, 5}, "y", s{2, 3, 5}), Apply: two(graph.Mul)},
		{Op: "Mul", About: "x · x", Inputs: x(2, 3), Apply: twice(graph.Mul)},
		{Op: "Mul", About: "zeros and ones", Inputs: []Input{Float("x", 3, 5), keep}, Apply: two(graph.Mul)},
		{Op: "Scale", About: "by -0.3", Inputs: x(2, 3, 5),
			Apply: one(func(x *G.Node) (*G.Node, error) { return graph.Scale(x, -0.3) })},
		{Op: "Exp", About: "(2, 3, 5)", Inputs: x(2, 3, 5), Apply: one(graph.Exp)},
		{Op: "Tanh", About: "(2, 3, 5)", Inputs: x(2, 3, 5), Apply: one(graph.Tanh)},
	}
}

func activations() []Case {
	softcap := func(limit float64) func(G.Nodes) (*G.Node, error) {
		return one(func(x *G.Node) (*G.Node, error) { return graph.Softcap(x, limit) })
	}
	return []Case{
		{Op: "GELU", About: "(2, 3, 5)", Inputs: x(2, 3, 5), Apply: one(graph.GELU)},
		{Op: "GELUTanh", About: "(2, 3, 5)", Inputs: x(2, 3, 5), Apply: one(graph.GELUTanh)},
		{Op: "Sigmoid", About: "(2, 3, 5)", Inputs: x(2, 3, 5), Apply: one(graph.Sigmoid)},
		{Op: "SiLU", About: "(2, 3, 5)", Inputs: x(2, 3, 5), Apply: one(graph.SiLU)},
		{Op: "Softcap", About: "at 0.7", Inputs: x(2, 3, 5), Apply: softcap(0.7)},
		{Op: "Softcap", About: "at 30", Inputs: x(2, 3, 5), Apply: softcap(30)},
		{Op: "SwiGLU", About: "(2, 3, 5)", Inputs: pair("gate", s{2, 3, 5}, "up", s{2, 3, 5}), Apply: two(graph.SwiGLU)},
		{Op: "SwiGLU", About: "x by itself", Inputs: x(2, 3), Apply: twice(graph.SwiGLU)},
	}
}
