package gradcases

import (
	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
)

// pooled returns the cases of the mean and the maximum over tokens; the mask's inputs follow x.
func pooled() []Case {
	type pool = func(x *G.Node, m mask.Mask) (*G.Node, error)
	kept := Fixed("keep", []float64{1, 0, 0, 1, 1, 0, 0, 0, 1, 0}, 2, 1, 1, 5)
	var cases []Case
	for _, f := range []struct {
		name string
		of   pool
	}{{name: "MaskedMean", of: graph.MaskedMean}, {name: "MaskedMax", of: graph.MaskedMax}} {
		by := func(m func(in G.Nodes) mask.Mask) func(G.Nodes) (*G.Node, error) {
			return func(in G.Nodes) (*G.Node, error) { return f.of(in[0], m(in)) }
		}
		cases = append(cases,
			Case{Op: f.name, About: "(T, E), all shown", Inputs: x(3, 5), Apply: by(func(G.Nodes) mask.Mask { return nil })},
			Case{Op: f.name, About: "(B, T, E), lengths",
				Apply:  by(func(in G.Nodes) mask.Mask { return mask.KeyLengths{Lengths: in[1]} }),
				Inputs: []Input{Float("x", 3, 5, 7), IDs("lengths", []int{5, 0, 2}, 3)}, Reason: "one sequence is all hidden"},
			Case{Op: f.name, About: "(B, T, E), kept", Inputs: []Input{Float("x", 2, 5, 3), kept},
				Apply: by(func(in G.Nodes) mask.Mask { return mask.Keep{Keep: in[1]} })})
	}
	return cases
}
