package gradcases

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// lookups returns the cases of dropout and of the ops that take ids.
func lookups() []Case {
	dropout := func(p float64, site int) func(G.Nodes) (*G.Node, error) {
		return func(in G.Nodes) (*G.Node, error) {
			return graph.Dropout(in[0], graph.DropoutConfig{P: p, Key: in[1], Site: site})
		}
	}
	padded := two(func(weight, ids *G.Node) (*G.Node, error) { return graph.PaddedEmbedding(weight, ids, 1) })
	return []Case{
		{Op: "Dropout", About: "half", Inputs: []Input{Float("x", 2, 3, 5), Key()}, Apply: dropout(0.5, 1)},
		{Op: "Dropout", About: "a tenth, another site", Inputs: []Input{Float("x", 2, 3, 5), Key()}, Apply: dropout(0.1, 7)},
		{Op: "Embedding", About: "repeated ids", Apply: two(graph.Embedding),
			Inputs: []Input{Float("weight", 7, 5), IDs("ids", []int{3, 0, 3, 6, 3, 0}, 2, 3)}},
		{Op: "Embedding", About: "one row", Apply: two(graph.Embedding),
			Inputs: []Input{Float("weight", 1, 5), IDs("ids", []int{0, 0, 0}, 3)}},
		{Op: "PaddedEmbedding", About: "padding that no id is", Apply: padded,
			Inputs: []Input{Float("weight", 7, 5), IDs("ids", []int{3, 0, 3, 6, 3, 0}, 2, 3)},
			Reason: "the padding's gradient is 0, unlike its differences, so that no id may be it"},
	}
}
