package gradcases

import (
	"math"

	"attention/graph"

	G "gorgonia.org/gorgonia"
)

func elementwise() []Case {
	clamp := func(low, high float64) func(G.Nodes) (*G.Node, error) {
		return one(func(x *G.Node) (*G.Node, error) { return graph.Clamp(x, low, high) })
	}
	return []Case{
		{Op: "Scale", About: "by -0.3", Inputs: x(2, 3, 5),
			Apply: one(func(x *G.Node) (*G.Node, error) { return graph.Scale(x, -0.3) })},
		{Op: "Exp", About: "(2, 3, 5)", Inputs: x(2, 3, 5), Apply: one(graph.Exp)},
		{Op: "Clamp", About: "to -0.3 and 0.8", Inputs: x(2, 3, 5), Apply: clamp(-0.3, 0.8)},
		{Op: "Clamp", About: "from 0.1 on", Inputs: x(2, 3, 5), Apply: clamp(0.1, math.Inf(1))},
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
		{Op: "LogSigmoid", About: "(2, 3, 5)", Inputs: x(2, 3, 5), Apply: one(graph.LogSigmoid)},
		{Op: "ReLUSquared", About: "(2, 3, 5)", Inputs: x(2, 3, 5), Apply: one(graph.ReLUSquared)},
		{Op: "Sigmoid", About: "(2, 3, 5)", Inputs: x(2, 3, 5), Apply: one(graph.Sigmoid)},
		{Op: "SiLU", About: "(2, 3, 5)", Inputs: x(2, 3, 5), Apply: one(graph.SiLU)},
		{Op: "Softcap", About: "at 0.7", Inputs: x(2, 3, 5), Apply: softcap(0.7)},
		{Op: "Softcap", About: "at 30", Inputs: x(2, 3, 5), Apply: softcap(30)},
		{Op: "SwiGLU", About: "(2, 3, 5)", Inputs: pair("gate", s{2, 3, 5}, "up", s{2, 3, 5}), Apply: two(graph.SwiGLU)},
		{Op: "SwiGLU", About: "x by itself", Inputs: x(2, 3), Apply: twice(graph.SwiGLU)},
		{Op: "GeGLU", About: "(2, 3, 5)", Inputs: pair("gate", s{2, 3, 5}, "up", s{2, 3, 5}), Apply: two(graph.GeGLU)},
		{Op: "GeGLU", About: "x by itself", Inputs: x(2, 3), Apply: twice(graph.GeGLU)},
		{Op: "GeGLUTanh", About: "(2, 3, 5)", Inputs: pair("gate", s{2, 3, 5}, "up", s{2, 3, 5}),
			Apply: two(graph.GeGLUTanh)},
		{Op: "GeGLUTanh", About: "x by itself", Inputs: x(2, 3), Apply: twice(graph.GeGLUTanh)},
	}
}
