package gradcases

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// reductions returns the cases of sums, means and maxima along axes.
func reductions() []Case {
	type along = func(*G.Node, graph.ReduceConfig) (*G.Node, error)
	over := func(f along, dim ...int) func(G.Nodes) (*G.Node, error) {
		return one(func(x *G.Node) (*G.Node, error) { return f(x, graph.ReduceConfig{Dim: dim}) })
	}
	kept := func(f along, dim ...int) func(G.Nodes) (*G.Node, error) {
		return one(func(x *G.Node) (*G.Node, error) { return f(x, graph.ReduceConfig{Dim: dim, KeepDim: true}) })
	}
	largest := func(k int) func(G.Nodes) (*G.Node, error) {
		return one(func(x *G.Node) (*G.Node, error) {
			values, _, err := graph.TopK(x, k)
			return values, err
		})
	}
	var cases []Case
	for _, f := range []struct {
		name string
		of   along
	}{{name: "Sum", of: graph.Sum}, {name: "Mean", of: graph.Mean}, {name: "Max", of: graph.Max}} {
		cases = append(cases,
			Case{Op: f.name, About: "whole", Inputs: x(2, 3, 5), Apply: over(f.of)},
			Case{Op: f.name, About: "last axis", Inputs: x(2, 3, 5), Apply: over(f.of, -1)},
			Case{Op: f.name, About: "first axis, kept", Inputs: x(2, 3, 5), Apply: kept(f.of, 0)},
			Case{Op: f.name, About: "axes apart", Inputs: x(2, 3, 5, 7), Apply: over(f.of, 2, 0)},
			Case{Op: f.name, About: "an axis of length 1", Inputs: x(3, 1), Apply: over(f.of, 1)},
			Case{Op: f.name, About: "scalar", Inputs: x(), Apply: over(f.of)})
	}
	return append(cases,
		Case{Op: "TopK", About: "1 of 5", Inputs: x(2, 3, 5), Apply: largest(1)},
		Case{Op: "TopK", About: "3 of 5", Inputs: x(2, 3, 5), Apply: largest(3)},
		Case{Op: "TopK", About: "all of 5", Inputs: x(5), Apply: largest(5)})
}
