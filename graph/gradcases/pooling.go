package gradcases

import (
	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
)

// maskedMeans returns the cases of the mean over tokens, the inputs of the mask after x.
func maskedMeans() []Case {
	mean := func(m func(in G.Nodes) mask.Mask) func(G.Nodes) (*G.Node, error) {
		return func(in G.Nodes) (*G.Node, error) { return graph.MaskedMean(in[0], m(in)) }
	}
	all := mean(func(G.Nodes) mask.Mask { return nil })
	lengths := mean(func(in G.Nodes) mask.Mask { return mask.KeyLengths{Lengths: in[1]} })
	keep := mean(func(in G.Nodes) mask.Mask { return mask.Keep{Keep: in[1]} })
	kept := Fixed("keep", []float64{1, 0, 0, 1, 1, 0, 0, 0, 1, 0}, 2, 1, 1, 5)
	return []Case{
		{Op: "MaskedMean", About: "(T, E), all shown", Inputs: x(3, 5), Apply: all},
		{Op: "MaskedMean", About: "(B, T, E), lengths", Apply: lengths,
			Inputs: []Input{Float("x", 3, 5, 7), IDs("lengths", []int{5, 0, 2}, 3)}, Reason: "one sequence is all hidden"},
		{Op: "MaskedMean", About: "(B, T, E), kept", Inputs: []Input{Float("x", 2, 5, 3), kept}, Apply: keep},
	}
}
