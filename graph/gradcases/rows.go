package gradcases

import (
	"math"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// rows returns the cases of the ops on rows of scores: softmax, masks, division by the sum.
func rows() []Case {
	hide := math.Inf(-1)
	far := Fixed("far", []float64{100, 101, 99, 100, 0}, 5)
	mask := Fixed("mask", []float64{0, hide, 0, 0, hide, hide, hide, hide, hide, hide, hide, 0, 0, 0, 0}, 3, 5)
	softmaxOfSum := two(func(x, y *G.Node) (*G.Node, error) {
		var f expr.Formula
		return f.Result(f.Of(graph.Softmax(f.Of(graph.Add(x, y)))))
	})
	return []Case{
		{Op: "Softmax", About: "1-D", Inputs: x(7), Apply: one(graph.Softmax)},
		{Op: "Softmax", About: "3-D", Inputs: x(2, 3, 5), Apply: one(graph.Softmax)},
		{Op: "Softmax", About: "4-D", Inputs: x(2, 3, 2, 5), Apply: one(graph.Softmax)},
		{Op: "Softmax", About: "one key", Inputs: x(3, 1), Apply: one(graph.Softmax), Flat: true,
			Reason: "the weight of a single key is 1"},
		{Op: "Softmax", About: "scores beyond exp's range in float32", Inputs: []Input{Float("x", 3, 5), far},
			Apply: softmaxOfSum},
		{Op: "Softmax", About: "hidden keys and a hidden row", Inputs: []Input{Float("x", 2, 3, 5), mask},
			Apply: softmaxOfSum},
		{Op: "LogSoftmax", About: "1-D", Inputs: x(7), Apply: one(graph.LogSoftmax)},
		{Op: "LogSoftmax", About: "3-D", Inputs: x(2, 3, 5), Apply: one(graph.LogSoftmax)},
		{Op: "LogSoftmax", About: "one key", Inputs: x(3, 1), Apply: one(graph.LogSoftmax), Flat: true,
			Reason: "the weight of a single key is 1"},
		{Op: "DivideBySum", About: "3-D", Inputs: positive(2, 3, 5), Apply: one(graph.DivideBySum)},
		{Op: "DivideBySum", About: "1-D", Inputs: positive(7), Apply: one(graph.DivideBySum)},
		{Op: "Tril", About: "2-D", Inputs: x(5, 5), Apply: one(graph.Tril)},
		{Op: "Tril", About: "3-D", Inputs: x(2, 3, 3), Apply: one(graph.Tril)},
	}
}

// positive returns the input of an op that divides by the sum of a row.
func positive(shape ...int) []Input { return []Input{{Name: "x", Shape: shape, Positive: true}} }

// maskFills returns the cases of MaskFill; the mask's inputs follow the scores.
func maskFills() []Case {
	filled := func(mask func(in G.Nodes) mask.Mask) func(G.Nodes) (*G.Node, error) {
		return func(in G.Nodes) (*G.Node, error) {
			var f expr.Formula
			return f.Result(f.Of(graph.Exp(f.Of(graph.MaskFill(in[0], mask(in))))))
		}
	}
	causal := filled(func(G.Nodes) mask.Mask { return mask.Causal{} })
	lengths, keep := IDs("lengths", []int{5, 2}, 2), Fixed("keep", []float64{1, 0, 0, 1, 0, 0}, 3, 2, 1)
	const ofExp = "−∞ has no differences, its exponential has"
	return []Case{
		{Op: "MaskFill", About: "window, 2-D", Inputs: []Input{Float("scores", 5, 3)}, Reason: ofExp,
			Apply: filled(func(G.Nodes) mask.Mask { return mask.SlidingWindow{Left: 1, Align: mask.UpperLeft} })},
		{Op: "MaskFill", About: "lengths, 3-D", Inputs: []Input{Float("scores", 2, 3, 5), lengths}, Reason: ofExp,
			Apply: filled(func(in G.Nodes) mask.Mask { return mask.KeyLengths{Lengths: in[1]} })},
		{Op: "MaskFill", About: "not kept, 4-D", Inputs: []Input{Float("scores", 2, 3, 2, 5), keep}, Reason: ofExp,
			Apply: filled(func(in G.Nodes) mask.Mask { return mask.Not(mask.Keep{Keep: in[1]}) })},
		{Op: "MaskFill", About: "causal, 2-D", Inputs: x(5, 5), Apply: causal, Reason: ofExp},
		{Op: "MaskFill", About: "causal, 4-D", Inputs: x(2, 3, 5, 5), Apply: causal, Reason: ofExp},
		{Op: "MaskFill", About: "causal, T=1", Inputs: x(2, 1, 1), Apply: causal, Reason: ofExp},
	}
}
