package gradcases

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// arithmetic returns the cases of the ops that broadcast.
func arithmetic() []Case {
	var cases []Case
	for _, f := range []struct {
		name string
		of   func(x, y *G.Node) (*G.Node, error)
	}{{name: "Add", of: graph.Add}, {name: "Sub", of: graph.Sub}, {name: "Mul", of: graph.Mul},
		{name: "Div", of: graph.Div}} {
		in := func(xs, ys s) []Input {
			return []Input{Float("x", xs...), {Name: "y", Shape: ys, Positive: f.name == "Div"}}
		}
		cases = append(cases,
			Case{Op: f.name, About: "one shape", Inputs: in(s{2, 3, 5}, s{2, 3, 5}), Apply: two(f.of)},
			Case{Op: f.name, About: "bias", Inputs: in(s{2, 3, 5}, s{5}), Apply: two(f.of)},
			Case{Op: f.name, About: "positions", Inputs: in(s{2, 3, 5}, s{3, 5}), Apply: two(f.of)},
			Case{Op: f.name, About: "columns", Inputs: in(s{2, 3, 5}, s{3, 1}), Apply: two(f.of)},
			Case{Op: f.name, About: "both repeated", Inputs: in(s{3, 1, 7}, s{2, 1, 5, 1}), Apply: two(f.of)},
			Case{Op: f.name, About: "x is a scalar", Inputs: in(nil, s{2, 3}), Apply: two(f.of)},
			Case{Op: f.name, About: "y is a scalar", Inputs: in(s{2, 3}, nil), Apply: two(f.of)})
	}
	keep := Fixed("keep", []float64{1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 0, 0, 0, 1}, 3, 5)
	condition := Fixed("condition", []float64{1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 0, 0, 0, 1}, 3, 5)
	positive := []Input{{Name: "x", Shape: s{2, 3}, Positive: true}}
	where := func(in G.Nodes) (*G.Node, error) { return graph.Where(in[0], in[1], in[2]) }
	return append(cases,
		Case{Op: "Add", About: "x + x", Inputs: x(2, 3), Apply: twice(graph.Add)},
		Case{Op: "Sub", About: "x - x", Inputs: x(2, 3), Apply: twice(graph.Sub), Flat: true, Reason: "it is 0"},
		Case{Op: "Mul", About: "x · x", Inputs: x(2, 3), Apply: twice(graph.Mul)},
		Case{Op: "Div", About: "x / x", Inputs: positive, Apply: twice(graph.Div), Flat: true, Reason: "it is 1"},
		Case{Op: "Mul", About: "zeros and ones", Inputs: []Input{Float("x", 3, 5), keep}, Apply: two(graph.Mul)},
		Case{Op: "Where", About: "one shape", Apply: where,
			Inputs: append([]Input{condition}, pair("x", s{3, 5}, "y", s{3, 5})...)},
		Case{Op: "Where", About: "the condition repeated", Apply: where,
			Inputs: append([]Input{condition}, pair("x", s{2, 3, 5}, "y", s{2, 3, 5})...)},
		Case{Op: "Where", About: "rows, columns and a scalar", Apply: where,
			Inputs: append([]Input{IDs("condition", []int{1, 0, 2}, 3, 1)}, pair("x", s{2, 1, 5}, "y", nil)...)})
}
