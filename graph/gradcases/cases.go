package gradcases

import (
	"slices"

	G "gorgonia.org/gorgonia"
)

// Cases returns the cases of all ops.
func Cases() []Case {
	return slices.Concat(elementwise(), arithmetic(), reductions(), losses(), products(), rows(), layouts(), lookups(),
		attentions(), additives(), norms(), activations(), parts(), positions(), lastRows(), pooled(), recurrent(), linears())
}

// s is a shape.
type s = []int

// x returns the input of an op with one node.
func x(shape ...int) []Input { return []Input{Float("x", shape...)} }

// pair returns the inputs of an op with two nodes.
func pair(x string, xs s, y string, ys s) []Input { return []Input{Float(x, xs...), Float(y, ys...)} }

func one(op func(x *G.Node) (*G.Node, error)) func(G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) { return op(in[0]) }
}

func two(op func(a, b *G.Node) (*G.Node, error)) func(G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) { return op(in[0], in[1]) }
}

// twice is two with one input as both nodes.
func twice(op func(a, b *G.Node) (*G.Node, error)) func(G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) { return op(in[0], in[0]) }
}
