package gradcases

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

func norms() []Case {
	layerNorm := func(eps float64) func(G.Nodes) (*G.Node, error) {
		return func(in G.Nodes) (*G.Node, error) { return graph.LayerNorm(in[0], in[1], in[2], eps) }
	}
	noBias := func(in G.Nodes) (*G.Node, error) { return graph.LayerNorm(in[0], in[1], nil, 1e-5) }
	inputs := func(shape ...int) []Input {
		width := shape[len(shape)-1]
		return []Input{Float("x", shape...), Float("weight", width), Float("bias", width)}
	}
	cases := []Case{
		{Op: "LayerNorm", About: "bias", Inputs: inputs(2, 3, 5), Apply: layerNorm(1e-5)},
		{Op: "LayerNorm", About: "no bias", Inputs: inputs(2, 3, 5)[:2], Apply: noBias},
		{Op: "LayerNorm", About: "one vector", Inputs: inputs(7), Apply: layerNorm(1e-5)},
		{Op: "LayerNorm", About: "large eps", Inputs: inputs(3, 5), Apply: layerNorm(0.7)},
		{Op: "LayerNorm", About: "E=1", Inputs: inputs(3, 1), Apply: layerNorm(1e-5)},
	}
	cases = append(cases, rootNorms("RMSNorm", graph.RMSNorm)...)
	return append(cases, rootNorms("L2Norm", graph.L2Norm)...)
}

// rootNorms returns the cases of a norm that divides by a root of a sum of squares.
func rootNorms(op string, norm func(x, weight *G.Node, eps float64) (*G.Node, error)) []Case {
	by := func(eps float64) func(x, weight *G.Node) (*G.Node, error) {
		return func(x, weight *G.Node) (*G.Node, error) { return norm(x, weight, eps) }
	}
	return []Case{
		{Op: op, About: "3-D", Inputs: pair("x", s{2, 3, 5}, "weight", s{5}), Apply: two(by(1e-6))},
		{Op: op, About: "three heads", Inputs: pair("x", s{2, 5, 21}, "weight", s{7}), Apply: two(by(1e-6))},
		{Op: op, About: "one vector", Inputs: pair("x", s{7}, "weight", s{7}), Apply: two(by(1e-6))},
		{Op: op, About: "large eps", Inputs: pair("x", s{3, 5}, "weight", s{5}), Apply: two(by(20))},
		{Op: op, About: "x by itself", Inputs: x(5), Apply: twice(by(1e-6))},
	}
}
