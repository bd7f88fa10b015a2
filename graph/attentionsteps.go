package graph

import (
	"math"

	"attention/graph/mask"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Steps of Attention that a config may leave out: then they return their argument unchanged.

func (a *attentionArgs) splitHeads(x *G.Node, heads int) (*G.Node, error) {
	if a.Heads == 0 {
		return x, nil
	}
	return SplitHeads(x, heads)
}

func (a *attentionArgs) mergeHeads(x *G.Node) (*G.Node, error) {
	if a.Heads == 0 {
		return x, nil
	}
	return MergeHeads(x)
}

func (a *attentionArgs) softcap(scores *G.Node) (*G.Node, error) {
	if a.Softcap == 0 {
		return scores, nil
	}
	return Softcap(scores, a.Softcap)
}

func (a *attentionArgs) addBias(scores *G.Node) (*G.Node, error) {
	if a.Bias == nil {
		return scores, nil
	}
	return a.addToScores(scores, a.Bias)
}

func (a *attentionArgs) addRelativeBias(scores *G.Node) (*G.Node, error) {
	if a.RelativeBias == nil {
		return scores, nil
	}
	var f expr.Formula
	bias := f.Of(ExpandRelativeBias(a.RelativeBias, a.scores.T, a.scores.S)) // (H, T, S)
	if !a.scores.Heads && len(a.scores.Batch) == 0 {
		bias = f.Of(MergeHeads(bias)) // (1, T, S) → (T, S)
	}
	return f.Result(f.Of(a.addToScores(scores, bias)))
}

// addToScores adds a bias that broadcasts to the scores of all keys but the extra ones.
func (a *attentionArgs) addToScores(scores, bias *G.Node) (*G.Node, error) {
	if a.ExtraKeys == 0 {
		return Add(scores, bias)
	}
	parts, err := Split(scores, a.scores.S, a.ExtraKeys)
	if err != nil {
		return nil, err
	}
	var f expr.Formula
	return f.Result(f.Of(Concat(f.Of(Add(parts[0], bias)), parts[1])))
}

// hide replaces the scores of hidden keys by −∞.
func (a *attentionArgs) hide(scores *G.Node) (*G.Node, error) {
	if a.mask.mask == (mask.All{}) {
		return scores, nil
	}
	f := maskFilling{Name: "MaskFill", Heads: a.scores.Heads, Extra: a.ExtraKeys, Hidden: math.Inf(-1)}
	return a.mask.fill(f, scores)
}

// weigh turns scores into weights.
func (a *attentionArgs) weigh(scores *G.Node) (*G.Node, error) {
	if a.Sigmoid {
		var f expr.Formula
		return f.Result(f.Of(Sigmoid(f.Of(a.shift(scores)))))
	}
	if a.Sinks == nil {
		return Softmax(scores)
	}
	return softmaxWithSinks(scores, a.Sinks, a.scores.Heads)
}

// softmaxWithSinks returns the softmax of the rows of scores (…, H, T, S), each with one more score, the head's sink,
// whose weight is left out of the result:
//
//	y[s] = exp(x[s]) / (exp(sink) + Σ exp(x))
//
// so that a head may attend to nothing (attention sinks: Xiao et al. 2023; learned as in gpt-oss). 2023; learned as in
// gpt-oss). A row of −∞ has weights of 0 whatever the sink is, and passes it no gradient; any other row is NaN if its
// sink is NaN or ∞.
func softmaxWithSinks(scores, sinks *G.Node, heads bool) (*G.Node, error) {
	const lowest = -math.MaxFloat32
	shape := tensor.Shape{1, 1}
	if heads {
		shape = tensor.Shape{sinks.Shape()[0], 1, 1}
	}
	var f expr.Formula
	top := f.Of(Max(scores, ReduceConfig{Dim: []int{-1}, KeepDim: true}))    // (…, H, T, 1)
	sees := f.Of(Sub(f.Of(Clamp(top, lowest, 0)), constant(scores, lowest))) // (…, H, T, 1), 0 for a row of −∞
	column := f.Of(G.Reshape(sinks, shape))                                  // (H, 1, 1)
	column = f.Of(whereNotZero(sees, column))                                // (…, H, T, 1)
	all := f.Of(Softmax(f.Of(Concat(scores, column))))                       // (…, H, T, S+1)
	if f.Err() != nil {
		return nil, f.Err()
	}
	parts, err := Split(all, last(scores.Shape()), 1)
	if err != nil {
		return nil, err
	}
	return parts[0], nil
}

// shift adds the bias of the sigmoid to all scores, those of the extra keys too.
func (a *attentionArgs) shift(scores *G.Node) (*G.Node, error) {
	if a.SigmoidBias == 0 {
		return scores, nil
	}
	return Add(scores, constant(scores, a.SigmoidBias))
}
