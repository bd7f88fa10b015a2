package gradcases

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// recurrent returns the cases of GRU.
func recurrent() []Case {
	// Inputs after x and weight: those of h0, bias and lengths that the names list.
	gru := func(reverse bool, optional ...string) func(G.Nodes) (*G.Node, error) {
		return func(in G.Nodes) (*G.Node, error) {
			c, given := graph.GRUConfig{Reverse: reverse}, map[string]*G.Node{}
			for i, name := range optional {
				given[name] = in[2+i]
			}
			c.Lengths = given["lengths"]
			return graph.GRU(in[0], given["h0"], in[1], given["bias"], c)
		}
	}
	all := []Input{Float("x", 2, 5, 9), Float("weight", 9, 3), Float("h0", 2, 3), Float("bias", 9)}
	lengths := IDs("lengths", []int{3, 5}, 2)
	return []Case{
		{Op: "GRU", About: "(B, T, 3·N)", Inputs: all, Apply: gru(false, "h0", "bias")},
		{Op: "GRU", About: "reverse", Inputs: all, Apply: gru(true, "h0", "bias")},
		{Op: "GRU", About: "without h0 and bias", Inputs: all[:2], Apply: gru(false)},
		{Op: "GRU", About: "lengths", Inputs: append(all[:4:4], lengths), Apply: gru(false, "h0", "bias", "lengths")},
		{Op: "GRU", About: "lengths, reverse, without h0", Apply: gru(true, "bias", "lengths"),
			Inputs: []Input{all[0], all[1], all[3], lengths}},
		{Op: "GRU", About: "one token, one element", Apply: gru(false, "h0"),
			Inputs: []Input{Float("x", 1, 3), Float("weight", 3, 1), Float("h0", 1)}},
	}
}
