package gradcases

import (
	"attention/graph"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// layouts returns the cases of the ops that move elements between heads and widths.
func layouts() []Case {
	split := func(heads int) func(G.Nodes) (*G.Node, error) {
		return one(func(x *G.Node) (*G.Node, error) { return graph.SplitHeads(x, heads) })
	}
	repeat := one(func(x *G.Node) (*G.Node, error) { return graph.RepeatHeads(x, 3) })
	concat := func(in G.Nodes) (*G.Node, error) { return graph.Concat(in...) }
	return []Case{
		{Op: "SplitHeads", About: "2-D", Inputs: x(5, 6), Apply: split(3)},
		{Op: "SplitHeads", About: "3-D", Inputs: x(2, 5, 6), Apply: split(3)},
		{Op: "RepeatHeads", About: "three times", Inputs: x(2, 2, 5, 7), Apply: repeat},
		{Op: "SplitHeads", About: "one head", Inputs: x(2, 5, 7), Apply: split(1)},
		{Op: "MergeHeads", About: "3-D", Inputs: x(3, 5, 2), Apply: one(graph.MergeHeads)},
		{Op: "MergeHeads", About: "4-D", Inputs: x(2, 3, 5, 7), Apply: one(graph.MergeHeads)},
		{Op: "MergeHeads", About: "one head", Inputs: x(2, 1, 5, 7), Apply: one(graph.MergeHeads)},
		{Op: "Concat", About: "three widths",
			Inputs: []Input{Float("xs[0]", 2, 3, 5), Float("xs[1]", 2, 3, 1), Float("xs[2]", 2, 3, 7)},
			Apply:  concat},
		{Op: "Concat", About: "one node, twice", Inputs: x(2, 3),
			Apply: func(in G.Nodes) (*G.Node, error) { return graph.Concat(in[0], in[0]) }},
		{Op: "Concat", About: "alone", Inputs: x(2, 3), Apply: concat},
	}
}

// parts returns the cases of the ops that split tensors.
func parts() []Case {
	split := func(chosen ...int) func(G.Nodes) (*G.Node, error) {
		return func(in G.Nodes) (*G.Node, error) {
			parts, err := graph.Split(in[0], 2, 1, 4)
			if err != nil {
				return nil, err
			}
			var join G.Nodes
			for _, i := range chosen {
				join = append(join, parts[i])
			}
			return graph.Concat(join...)
		}
	}
	rows := func(from, n int) func(G.Nodes) (*G.Node, error) {
		return one(func(x *G.Node) (*G.Node, error) { return graph.Rows(x, from, n) })
	}
	overlap := func(in G.Nodes) (*G.Node, error) {
		var f expr.Formula
		first, second := f.Of(graph.Rows(in[0], 0, 3)), f.Of(graph.Rows(in[0], 2, 3))
		return f.Result(f.Of(graph.Mul(first, second)))
	}
	return []Case{
		{Op: "Split", About: "all parts", Inputs: x(2, 3, 7), Apply: split(2, 1, 0)},
		{Op: "Split", About: "one part", Inputs: x(2, 3, 7), Apply: split(1)},
		{Op: "Split", About: "two parts, one twice", Inputs: x(2, 3, 7), Apply: split(2, 0, 2)},
		{Op: "Rows", About: "in the middle", Inputs: x(5, 2, 3), Apply: rows(1, 2)},
		{Op: "Rows", About: "all", Inputs: x(5, 3), Apply: rows(0, 5)},
		{Op: "Rows", About: "that overlap", Inputs: x(5, 3), Apply: overlap},
		{Op: "Transpose", About: "(3, 5)", Inputs: x(3, 5), Apply: one(graph.Transpose)},
		{Op: "AverageHeads", About: "4-D", Inputs: []Input{Float("weights", 2, 3, 5, 7)}, Apply: one(graph.AverageHeads)},
		{Op: "AverageHeads", About: "one head", Inputs: x(1, 5, 7), Apply: one(graph.AverageHeads)},
	}
}

// appendRows returns the cases of AppendRow, of Detach and of Checkpoint.
func appendRows() []Case {
	byDetached := func(in G.Nodes) (*G.Node, error) {
		var f expr.Formula
		return f.Result(f.Of(graph.Mul(in[1], f.Of(graph.Detach(in[0])))))
	}
	marked := func(x *G.Node) (*G.Node, error) {
		var f expr.Formula
		for range 2 {
			x = f.Of(graph.Checkpoint(x))
			x = f.Of(graph.Mul(f.Of(graph.Tanh(x)), x))
		}
		return f.Result(f.Of(graph.Checkpoint(x)))
	}
	return []Case{
		{Op: "AppendRow", About: "2-D", Inputs: pair("x", s{3, 5}, "row", s{5}), Apply: two(graph.AppendRow)},
		{Op: "AppendRow", About: "3-D, a row of three axes", Inputs: pair("x", s{2, 3, 5}, "row", s{1, 1, 5}),
			Apply: two(graph.AppendRow)},
		{Op: "AppendRow", About: "4-D, rows of one", Inputs: pair("x", s{2, 3, 5, 1}, "row", s{1}),
			Apply: two(graph.AppendRow)},
		{Op: "AppendRow", About: "zeros", Inputs: x(2, 3, 5),
			Apply: one(func(x *G.Node) (*G.Node, error) { return graph.AppendRow(x, nil) })},
		{Op: "Detach", About: "as a factor", Inputs: []Input{{Name: "y", Shape: s{2, 3}, Constant: true}, Float("x", 2, 3)},
			Apply: byDetached},
		{Op: "Checkpoint", About: "three marks", Inputs: x(2, 3, 5), Apply: one(marked)},
	}
}

// lastRows returns the cases of ReLU, FirstRow and LastRow.
func lastRows() []Case {
	andWhole := func(x *G.Node) (*G.Node, error) {
		var f expr.Formula
		row, ofTanh := f.Of(graph.LastRow(x)), f.Of(graph.LastRow(f.Of(graph.Tanh(x))))
		return f.Result(f.Of(graph.Mul(row, ofTanh)))
	}
	return []Case{
		{Op: "ReLU", About: "(2, 3, 5)", Inputs: x(2, 3, 5), Apply: one(graph.ReLU)},
		{Op: "FirstRow", About: "(B, T, E)", Inputs: x(2, 3, 5), Apply: one(graph.FirstRow)},
		{Op: "FirstRow", About: "T=1", Inputs: x(1, 5), Apply: one(graph.FirstRow)},
		{Op: "LastRow", About: "(B, T, E)", Inputs: x(2, 3, 5), Apply: one(graph.LastRow)},
		{Op: "LastRow", About: "(T, E)", Inputs: x(3, 5), Apply: one(graph.LastRow)},
		{Op: "LastRow", About: "T=1", Inputs: x(2, 1, 5), Apply: one(graph.LastRow)},
		{Op: "LastRow", About: "of a sequence that is used whole, too", Inputs: x(2, 3, 5), Apply: one(andWhole)},
	}
}
