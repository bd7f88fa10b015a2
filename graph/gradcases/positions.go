package gradcases

import (
	"slices"

	"attention/graph"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// positions returns the cases of the ops that know positions: rotations, sinusoids,
// relative biases, learned positions.
func positions() []Case { return slices.Concat(ropes(), sinusoids(), relativeBiases(), positionRows()) }

// placed returns the inputs of an op of x and its positions.
func placed(x s, positions []int, shape ...int) []Input {
	return []Input{Float("x", x...), IDs("positions", positions, shape...)}
}

// optional returns the second node, or nil if there is only one.
func optional(in G.Nodes) *G.Node {
	if len(in) < 2 {
		return nil
	}
	return in[1]
}

func ropes() []Case {
	rope := func(c graph.RoPEConfig) func(G.Nodes) (*G.Node, error) {
		return func(in G.Nodes) (*G.Node, error) { return graph.RoPE(in[0], optional(in), c) }
	}
	linear := graph.RoPEConfig{Scaling: graph.LinearScaling, Factor: 2.5}
	ntk := graph.RoPEConfig{Base: 100, Scaling: graph.NTKScaling, Factor: 2.5}
	llama3 := graph.RoPEConfig{Base: 100, Scaling: graph.Llama3Scaling, Factor: 2.5, OriginalLength: 20}
	yarn := graph.RoPEConfig{Base: 100, Scaling: graph.YaRNScaling, Factor: 2.5, OriginalLength: 20, BetaFast: 3}
	return []Case{
		{Op: "RoPE", About: "2-D, a position for each row", Inputs: placed(s{5, 6}, []int{3, -1, 4, 1, 5}, 5),
			Apply: rope(graph.RoPEConfig{})},
		{Op: "RoPE", About: "2-D", Inputs: x(5, 6), Apply: rope(graph.RoPEConfig{})},
		{Op: "RoPE", About: "three heads", Inputs: x(2, 5, 6), Apply: rope(graph.RoPEConfig{Heads: 3})},
		{Op: "RoPE", About: "the end of two heads", Inputs: x(2, 5, 6),
			Apply: rope(graph.RoPEConfig{Heads: 2, Dims: 2, AtEnd: true, Interleaved: true})},
		{Op: "RoPE", About: "three heads, a part of each", Inputs: placed(s{2, 5, 21}, []int{17}),
			Apply: rope(graph.RoPEConfig{Heads: 3, Dims: 4})},
		{Op: "RoPE", About: "interleaved", Inputs: placed(s{2, 3, 5, 6}, []int{3, -1, 4, 1, 5}, 5),
			Apply: rope(graph.RoPEConfig{Interleaved: true})},
		{Op: "RoPE", About: "interleaved, two heads, a part of each",
			Inputs: placed(s{2, 3, 10}, []int{3, -1, 4, 1, 5, 9}, 2, 3),
			Apply:  rope(graph.RoPEConfig{Heads: 2, Dims: 4, Interleaved: true})},
		{Op: "RoPE", About: "linear", Inputs: placed(s{5, 6}, []int{1000000}), Apply: rope(linear)},
		{Op: "RoPE", About: "ntk", Inputs: placed(s{2, 5, 6}, []int{-3}), Apply: rope(ntk)},
		{Op: "RoPE", About: "llama3", Inputs: placed(s{2, 5, 6}, []int{30}), Apply: rope(llama3)},
		{Op: "RoPE", About: "yarn", Inputs: placed(s{5, 6}, []int{30}), Apply: rope(yarn)},
		{Op: "RoPE", About: "T=1", Inputs: placed(s{2, 1, 2}, []int{7}), Apply: rope(graph.RoPEConfig{})},
	}
}

func sinusoids() []Case {
	add := func(in G.Nodes) (*G.Node, error) { return graph.AddSinusoidal(in[0], optional(in)) }
	return []Case{
		{Op: "AddSinusoidal", About: "3-D, from 17", Inputs: placed(s{2, 3, 6}, []int{17}), Apply: add},
		{Op: "AddSinusoidal", About: "2-D", Inputs: x(5, 6), Apply: add},
		{Op: "AddSinusoidal", About: "a position for each", Inputs: placed(s{2, 3, 2}, []int{3, -1, 4, 1, 5, 9}, 2, 3),
			Apply: add},
	}
}

func relativeBiases() []Case {
	t5 := func(c graph.T5Config) func(G.Nodes) (*G.Node, error) {
		return one(func(x *G.Node) (*G.Node, error) { return graph.T5RelativeBias(x, c) })
	}
	expand := func(T, S int) func(G.Nodes) (*G.Node, error) {
		return one(func(x *G.Node) (*G.Node, error) { return graph.ExpandRelativeBias(x, T, S) })
	}
	alibi := func(c graph.ALiBiConfig) func(G.Nodes) (*G.Node, error) {
		return func(in G.Nodes) (*G.Node, error) {
			var f expr.Formula
			bias := f.Of(graph.ALiBi(in[0].Graph(), in[0].Dtype(), c))
			return f.Result(f.Of(graph.Softmax(f.Of(graph.Add(in[0], bias)))))
		}
	}
	const ofSoftmax = "the bias is a constant: it is checked inside a softmax"
	return []Case{
		{Op: "T5RelativeBias", About: "two directions", Inputs: []Input{Float("table", 8, 3)},
			Apply: t5(graph.T5Config{T: 5, S: 7, MaxDistance: 5})},
		{Op: "T5RelativeBias", About: "one direction, later", Inputs: x(7, 3),
			Apply: t5(graph.T5Config{T: 3, S: 31, Offset: 29, MaxDistance: 20, Unidirectional: true})},
		{Op: "T5RelativeBias", About: "one query and key", Inputs: x(4, 2), Apply: t5(graph.T5Config{T: 1, S: 1})},
		{Op: "T5RelativeBias", About: "T=1", Inputs: x(4, 3), Apply: t5(graph.T5Config{T: 1, S: 5, Offset: 2})},
		{Op: "ExpandRelativeBias", About: "two heads", Inputs: []Input{Float("bias", 2, 11)}, Apply: expand(5, 7)},
		{Op: "ExpandRelativeBias", About: "for all heads", Inputs: x(1, 9), Apply: expand(7, 3)},
		{Op: "ExpandRelativeBias", About: "T=1", Inputs: x(3, 5), Apply: expand(1, 5)},
		{Op: "ExpandRelativeBias", About: "S=1", Inputs: x(3, 5), Apply: expand(5, 1)},
		{Op: "ALiBi", About: "six heads", Inputs: x(6, 7), Reason: ofSoftmax,
			Apply: alibi(graph.ALiBiConfig{Heads: 6, T: 5, S: 3, Offset: 1})},
		{Op: "ALiBi", About: "eight heads, T=1", Inputs: x(8, 5), Reason: ofSoftmax,
			Apply: alibi(graph.ALiBiConfig{Heads: 8, T: 1, S: 5, Offset: 4})},
	}
}

func positionRows() []Case {
	weight := Float("weight", 7, 5)
	from := func(start int) []Input { return []Input{weight, IDs("start", []int{start})} }
	rows := func(T int) func(G.Nodes) (*G.Node, error) {
		return two(func(weight, start *G.Node) (*G.Node, error) { return graph.PositionRows(weight, start, T) })
	}
	return []Case{
		{Op: "PositionRows", About: "from 0", Inputs: from(0), Apply: rows(3)},
		{Op: "PositionRows", About: "in the middle", Inputs: from(2), Apply: rows(3)},
		{Op: "PositionRows", About: "to the end", Inputs: from(4), Apply: rows(3)},
		{Op: "PositionRows", About: "all", Inputs: from(0), Apply: rows(7)},
	}
}
