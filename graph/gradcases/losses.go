package gradcases

import (
	"slices"

	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// losses returns the cases of the losses.
func losses() []Case {
	ids := func(ids []int, shape ...int) []Input {
		return []Input{Float("logits", append(shape, 7)...), IDs("targets", ids, shape...)}
	}
	const none = graph.IgnoreTarget
	some := []int{6, none, 3, 2, 1, 6}
	weight := Input{Name: "weight", Shape: s{7}, Positive: true, Constant: true}
	entropy := func(c graph.CrossEntropyConfig) func(in G.Nodes) (*G.Node, error) {
		return func(in G.Nodes) (*G.Node, error) {
			if len(in) > 2 {
				c.Weight = in[2]
			}
			return graph.CrossEntropy(in[0], in[1], c)
		}
	}
	cases := []Case{
		{Op: "CrossEntropy", About: "(T, V)", Inputs: ids([]int{6, 0, 3}, 3), Apply: entropy(graph.CrossEntropyConfig{})},
		{Op: "CrossEntropy", About: "(B, T, V)", Inputs: ids([]int{6, 0, 3, 3, 1, 6}, 2, 3),
			Apply: entropy(graph.CrossEntropyConfig{})},
		{Op: "CrossEntropy", About: "ignored targets", Inputs: ids([]int{6, none, 3, none, 1, 6}, 2, 3),
			Apply: entropy(graph.CrossEntropyConfig{})},
		{Op: "CrossEntropy", About: "two ids ignored, sum", Inputs: ids(some, 2, 3),
			Apply: entropy(graph.CrossEntropyConfig{Ignore: []int{2}, Reduction: graph.SumReduction})},
		{Op: "CrossEntropy", About: "smoothed", Inputs: ids(some, 2, 3),
			Apply: entropy(graph.CrossEntropyConfig{LabelSmoothing: 0.1})},
		{Op: "CrossEntropy", About: "weighted", Inputs: append(ids(some, 2, 3), weight),
			Apply: entropy(graph.CrossEntropyConfig{})},
		{Op: "CrossEntropy", About: "weighted, smoothed, none", Inputs: append(ids(some, 2, 3), weight),
			Apply: entropy(graph.CrossEntropyConfig{LabelSmoothing: 0.3, Reduction: graph.NoReduction})},
	}
	return slices.Concat(cases, linearLosses(), elementLosses())
}

// linearLosses returns the cases of the cross entropy of a product.
func linearLosses() []Case {
	const none = graph.IgnoreTarget
	in := []Input{Float("x", 2, 3, 5), Float("weight", 7, 5), IDs("targets", []int{6, none, 3, 2, 1, 6}, 2, 3)}
	weight := Input{Name: "class_weight", Shape: []int{7}, Positive: true, Constant: true}
	of := func(c graph.LinearCrossEntropyConfig) func(in G.Nodes) (*G.Node, error) {
		return func(in G.Nodes) (*G.Node, error) {
			if len(in) > 3 {
				c.Weight = in[3]
			}
			return graph.LinearCrossEntropy(in[0], in[1], in[2], c)
		}
	}
	smoothed := graph.LinearCrossEntropyConfig{WithX: true, WithWeight: true}
	smoothed.LabelSmoothing, smoothed.Reduction = 0.1, graph.SumReduction
	both := func(c graph.LinearCrossEntropyConfig) graph.LinearCrossEntropyConfig {
		c.Scale, c.Softcap = 1.5, 3
		return c
	}
	const op = "LinearCrossEntropy"
	return []Case{
		{Op: op, About: "gradients along", Inputs: in,
			Apply: of(graph.LinearCrossEntropyConfig{WithX: true, WithWeight: true})},
		{Op: op, About: "gradient of x along", Inputs: in, Apply: of(graph.LinearCrossEntropyConfig{WithX: true})},
		{Op: op, About: "gradient of weight along", Inputs: in, Apply: of(graph.LinearCrossEntropyConfig{WithWeight: true})},
		{Op: op, About: "gradients later", Inputs: in, Apply: of(graph.LinearCrossEntropyConfig{})},
		{Op: op, About: "weighted, smoothed, sum", Inputs: append(slices.Clone(in), weight), Apply: of(smoothed)},
		{Op: op, About: "scaled, capped, gradients along", Inputs: in,
			Apply: of(both(graph.LinearCrossEntropyConfig{WithX: true, WithWeight: true}))},
		{Op: op, About: "scaled, capped, gradients later", Inputs: in, Apply: of(both(graph.LinearCrossEntropyConfig{}))},
		{Op: op, About: "scaled, capped, weighted, smoothed, sum", Inputs: append(slices.Clone(in), weight),
			Apply: of(both(smoothed))},
	}
}

// elementLosses returns the cases of the losses of elements.
func elementLosses() []Case {
	type loss = func(input, target *G.Node, r graph.Reduction) (*G.Node, error)
	kl := func(logs bool) loss {
		return func(x, y *G.Node, r graph.Reduction) (*G.Node, error) {
			return graph.KLDiv(x, y, graph.KLDivConfig{Reduction: r, LogTarget: logs})
		}
	}
	delta := func(f func(x, y *G.Node, c graph.HuberConfig) (*G.Node, error), delta float64) loss {
		return func(x, y *G.Node, r graph.Reduction) (*G.Node, error) {
			return f(x, y, graph.HuberConfig{Reduction: r, Delta: delta})
		}
	}
	var cases []Case
	for _, f := range []struct {
		op, about string
		of        loss
		positive  bool // the targets
	}{
		{op: "MSE", of: func(x, y *G.Node, r graph.Reduction) (*G.Node, error) {
			return graph.MSE(x, y, graph.LossConfig{Reduction: r})
		}},
		{op: "L1", of: func(x, y *G.Node, r graph.Reduction) (*G.Node, error) {
			return graph.L1(x, y, graph.LossConfig{Reduction: r})
		}},
		{op: "Huber", of: delta(graph.Huber, 0)},
		{op: "Huber", about: "delta 0.3, ", of: delta(graph.Huber, 0.3)},
		{op: "SmoothL1", of: delta(graph.SmoothL1, 0)},
		{op: "SmoothL1", about: "delta 0.3, ", of: delta(graph.SmoothL1, 0.3)},
		{op: "BCEWithLogits", of: func(x, y *G.Node, r graph.Reduction) (*G.Node, error) {
			return graph.BCEWithLogits(x, y, graph.BCEConfig{Reduction: r})
		}},
		{op: "KLDiv", of: kl(false), positive: true},
		{op: "KLDiv", about: "logarithms, ", of: kl(true)},
	} {
		of := func(r graph.Reduction) func(in G.Nodes) (*G.Node, error) {
			return func(in G.Nodes) (*G.Node, error) { return f.of(in[0], in[1], r) }
		}
		in := func(shape ...int) []Input {
			return []Input{Float("input", shape...), {Name: "target", Shape: shape, Positive: f.positive}}
		}
		cases = append(cases,
			Case{Op: f.op, About: f.about + "mean", Inputs: in(2, 3, 5), Apply: of(graph.MeanReduction)},
			Case{Op: f.op, About: f.about + "sum", Inputs: in(2, 3, 5), Apply: of(graph.SumReduction)},
			Case{Op: f.op, About: f.about + "none", Inputs: in(2, 3, 5), Apply: of(graph.NoReduction)},
			Case{Op: f.op, About: f.about + "scalars", Inputs: in(), Apply: of(graph.MeanReduction)})
	}
	weighted := func(in G.Nodes) (*G.Node, error) {
		return graph.BCEWithLogits(in[0], in[1], graph.BCEConfig{PosWeight: in[2]})
	}
	weight := func(shape ...int) Input {
		return Input{Name: "pos_weight", Shape: shape, Positive: true, Constant: true}
	}
	both := pair("input", s{2, 3, 5}, "target", s{2, 3, 5})
	return append(cases,
		Case{Op: "BCEWithLogits", About: "a weight for each column", Inputs: append(both, weight(5)), Apply: weighted},
		Case{Op: "BCEWithLogits", About: "a weight for each row", Inputs: append(both, weight(3, 1)), Apply: weighted},
		Case{Op: "KLDiv", About: "batchmean", Inputs: []Input{Float("input", 2, 3),
			{Name: "target", Shape: s{2, 3}, Positive: true}},
			Apply: two(func(x, y *G.Node) (*G.Node, error) {
				return graph.KLDiv(x, y, graph.KLDivConfig{Reduction: graph.BatchMeanReduction})
			})})
}
