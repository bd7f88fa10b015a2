package main

import (
	"math"
	"slices"

	"attention/graph"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// gradcheckCases are all ops and all layers. Axes that must not be swapped have
// different prime lengths.
func gradcheckCases() []gradcheckCase {
	return slices.Concat(elementOps(), productOps(), rowOps(), maskOps(), layoutOps(), dropoutOps(), lookupOps(),
		attentionOps(), additiveOps(), normOps(), positionOps(), transformerOps(), gradcheckLayers())
}

func opCase(covers, about string, build func(g *checkedGraph) (*G.Node, error)) gradcheckCase {
	return gradcheckCase{group: "op", covers: covers, about: about, build: build}
}

// oneInput checks an op of one node on an input of a shape.
func oneInput(covers, about string, op func(*G.Node) (*G.Node, error), shape ...int) gradcheckCase {
	return opCase(covers, about, func(g *checkedGraph) (*G.Node, error) { return op(g.input("x", shape...)) })
}

// twoInputs checks an op of two nodes on inputs of two shapes.
func twoInputs(covers, about string, op func(a, b *G.Node) (*G.Node, error), a, b []int) gradcheckCase {
	return opCase(covers, about, func(g *checkedGraph) (*G.Node, error) {
		return op(g.input("a", a...), g.input("b", b...))
	})
}

func elementOps() []gradcheckCase {
	return []gradcheckCase{
		twoInputs("Add", "one shape", graph.Add, []int{2, 3, 5}, []int{2, 3, 5}),
		twoInputs("Add", "bias", graph.Add, []int{2, 3, 5}, []int{5}),
		twoInputs("Add", "positions", graph.Add, []int{2, 3, 5}, []int{3, 5}),
		opCase("Add", "x + x", func(g *checkedGraph) (*G.Node, error) {
			x := g.input("x", 2, 3)
			return graph.Add(x, x)
		}),
		twoInputs("Mul", "one shape", graph.Mul, []int{2, 3, 5}, []int{2, 3, 5}),
		opCase("Mul", "x · x", func(g *checkedGraph) (*G.Node, error) {
			x := g.input("x", 2, 3)
			return graph.Mul(x, x)
		}),
		oneInput("Scale", "by -0.3", func(x *G.Node) (*G.Node, error) { return graph.Scale(x, -0.3) }, 2, 3, 5),
		oneInput("Exp", "(2, 3, 5)", graph.Exp, 2, 3, 5),
		oneInput("Tanh", "(2, 3, 5)", graph.Tanh, 2, 3, 5),
		opCase("Observe", "(2, 3)", func(g *checkedGraph) (*G.Node, error) {
			o, err := graph.Observe(g.input("x", 2, 3))
			if err != nil {
				return nil, err
			}
			return graph.Tanh(o.Node())
		}),
	}
}

func productOps() []gradcheckCase {
	linear := func(about string, shape []int, bias bool) gradcheckCase {
		return opCase("Linear", about, func(g *checkedGraph) (*G.Node, error) {
			x, weight := g.input("x", shape...), g.input("weight", 7, 5)
			if !bias {
				return graph.Linear(x, weight, nil)
			}
			return graph.Linear(x, weight, g.input("bias", 7))
		})
	}
	return []gradcheckCase{
		twoInputs("MatMul", "2-D", graph.MatMul, []int{3, 5}, []int{5, 7}),
		twoInputs("MatMul", "3-D by 2-D", graph.MatMul, []int{2, 3, 5}, []int{5, 7}),
		twoInputs("MatMul", "4-D by 2-D", graph.MatMul, []int{2, 3, 2, 5}, []int{5, 7}),
		twoInputs("MatMul", "3-D batched", graph.MatMul, []int{2, 3, 5}, []int{2, 5, 7}),
		twoInputs("MatMul", "4-D batched", graph.MatMul, []int{2, 3, 2, 5}, []int{2, 3, 5, 7}),
		twoInputs("MatMul", "one row, one column", graph.MatMul, []int{2, 1, 5}, []int{2, 5, 1}),
		opCase("MatMul", "x by itself", func(g *checkedGraph) (*G.Node, error) {
			x := g.input("x", 2, 3, 3)
			return graph.MatMul(x, x)
		}),
		twoInputs("Scores", "2-D", graph.Scores, []int{3, 5}, []int{7, 5}),
		twoInputs("Scores", "3-D", graph.Scores, []int{2, 3, 5}, []int{2, 7, 5}),
		twoInputs("Scores", "4-D", graph.Scores, []int{2, 3, 2, 5}, []int{2, 3, 7, 5}),
		twoInputs("Scores", "T=1", graph.Scores, []int{2, 1, 5}, []int{2, 7, 5}),
		linear("2-D", []int{3, 5}, false),
		linear("3-D, bias", []int{2, 3, 5}, true),
		linear("4-D, bias", []int{2, 3, 2, 5}, true),
		linear("one vector", []int{5}, true),
	}
}

func rowOps() []gradcheckCase {
	return []gradcheckCase{
		oneInput("Softmax", "1-D", graph.Softmax, 7),
		oneInput("Softmax", "3-D", graph.Softmax, 2, 3, 5),
		oneInput("Softmax", "4-D", graph.Softmax, 2, 3, 2, 5),
		oneInput("Softmax", "one key", graph.Softmax, 3, 1).zeros(),
		opCase("Softmax", "scores beyond exp's range in float32", func(g *checkedGraph) (*G.Node, error) {
			return softmaxOfSum(g.input("x", 3, 5), g.fixed("far", []float64{100, 101, 99, 100, 0}, 5))
		}),
		opCase("Softmax", "hidden keys and a hidden row", func(g *checkedGraph) (*G.Node, error) {
			hide := math.Inf(-1)
			mask := []float64{0, hide, 0, 0, hide, hide, hide, hide, hide, hide, hide, 0, 0, 0, 0}
			return softmaxOfSum(g.input("x", 2, 3, 5), g.fixed("mask", mask, 3, 5))
		}),
		opCase("DivideBySum", "3-D", func(g *checkedGraph) (*G.Node, error) { return graph.DivideBySum(g.positive("x", 2, 3, 5)) }),
		opCase("DivideBySum", "1-D", func(g *checkedGraph) (*G.Node, error) { return graph.DivideBySum(g.positive("x", 7)) }),
	}
}

func softmaxOfSum(x, y *G.Node) (*G.Node, error) {
	var f expr.Formula
	z := f.Of(graph.Softmax(f.Of(graph.Add(x, y))))
	return f.Result(z)
}

func maskOps() []gradcheckCase {
	// −∞ itself cannot be differentiated, what is made of it can.
	filled := func(x *G.Node) (*G.Node, error) {
		var f expr.Formula
		y := f.Of(graph.Exp(f.Of(graph.CausalFill(x))))
		return f.Result(y)
	}
	return []gradcheckCase{
		oneInput("CausalFill", "2-D", filled, 5, 5),
		oneInput("CausalFill", "4-D", filled, 2, 3, 5, 5),
		oneInput("CausalFill", "T=1", filled, 2, 1, 1),
		oneInput("Tril", "2-D", graph.Tril, 5, 5),
		oneInput("Tril", "3-D", graph.Tril, 2, 3, 3),
	}
}

func layoutOps() []gradcheckCase {
	split := func(heads int) func(*G.Node) (*G.Node, error) {
		return func(x *G.Node) (*G.Node, error) { return graph.SplitHeads(x, heads) }
	}
	return []gradcheckCase{
		oneInput("SplitHeads", "2-D", split(3), 5, 6),
		oneInput("SplitHeads", "3-D", split(3), 2, 5, 6),
		oneInput("RepeatHeads", "three times", func(x *G.Node) (*G.Node, error) { return graph.RepeatHeads(x, 3) }, 2, 2, 5, 7),
		oneInput("SplitHeads", "one head", split(1), 2, 5, 7),
		oneInput("MergeHeads", "3-D", graph.MergeHeads, 3, 5, 2),
		oneInput("MergeHeads", "4-D", graph.MergeHeads, 2, 3, 5, 7),
		oneInput("MergeHeads", "one head", graph.MergeHeads, 2, 1, 5, 7),
		opCase("Concat", "three widths", func(g *checkedGraph) (*G.Node, error) {
			return graph.Concat(g.input("x0", 2, 3, 5), g.input("x1", 2, 3, 1), g.input("x2", 2, 3, 7))
		}),
		opCase("Concat", "one node, twice", func(g *checkedGraph) (*G.Node, error) {
			x := g.input("x", 2, 3)
			return graph.Concat(x, x)
		}),
		oneInput("Concat", "alone", func(x *G.Node) (*G.Node, error) { return graph.Concat(x) }, 2, 3),
	}
}

func dropoutOps() []gradcheckCase {
	return []gradcheckCase{
		opCase("Dropout", "half", func(g *checkedGraph) (*G.Node, error) {
			return graph.Dropout(g.input("x", 2, 3, 5), graph.DropoutConfig{P: 0.5, Key: g.key(), Site: 1})
		}),
		opCase("Dropout", "a tenth, another site", func(g *checkedGraph) (*G.Node, error) {
			return graph.Dropout(g.input("x", 2, 3, 5), graph.DropoutConfig{P: 0.1, Key: g.key(), Site: 7})
		}),
		opCase("DropoutMask", "half", func(g *checkedGraph) (*G.Node, error) {
			keep := g.fixed("keep", []float64{1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 0, 0, 0, 1}, 3, 5)
			return graph.DropoutMask(g.input("x", 3, 5), keep, 0.5)
		}),
	}
}

func lookupOps() []gradcheckCase {
	crossEntropy := func(about string, targets []int, shape ...int) gradcheckCase {
		return opCase("CrossEntropy", about, func(g *checkedGraph) (*G.Node, error) {
			return graph.CrossEntropy(g.input("logits", append(shape, 7)...), g.ids("targets", targets, shape...))
		})
	}
	return []gradcheckCase{
		opCase("Embedding", "repeated ids", func(g *checkedGraph) (*G.Node, error) {
			return graph.Embedding(g.input("weight", 7, 5), g.ids("ids", []int{3, 0, 3, 6, 3, 0}, 2, 3))
		}),
		opCase("Embedding", "one row", func(g *checkedGraph) (*G.Node, error) {
			return graph.Embedding(g.input("weight", 1, 5), g.ids("ids", []int{0, 0, 0}, 3))
		}),
		crossEntropy("(T, V)", []int{6, 0, 3}, 3),
		crossEntropy("(B, T, V)", []int{6, 0, 3, 3, 1, 6}, 2, 3),
		crossEntropy("ignored targets", []int{6, graph.IgnoreTarget, 3, graph.IgnoreTarget, 1, 6}, 2, 3),
	}
}
