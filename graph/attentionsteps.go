package graph

import (
	"fmt"
	"math"

	"attention/graph/mask"
	"attention/internal/dense"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// The steps of Attention that a config may leave out: then they return their argument.

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
	return addScoreBias(biased{a.scores.Heads, a.ExtraKeys}, scores, a.Bias)
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
	return f.Result(f.Of(addScoreBias(biased{a.scores.Heads, a.ExtraKeys}, scores, bias)))
}

// hide puts −∞ where the mask hides a key.
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
	heads := a.scores.Heads
	return applyTyped(softmaxWithSinks[float32]{Heads: heads}, softmaxWithSinks[float64]{Heads: heads}, scores, a.Sinks)
}

// shift adds the bias of the sigmoid, of the extra keys too.
func (a *attentionArgs) shift(scores *G.Node) (*G.Node, error) {
	if a.SigmoidBias == 0 {
		return scores, nil
	}
	name, v := fmt.Sprint("sigmoid bias ", a.SigmoidBias), dense.Of(scores.Dtype(), []float64{a.SigmoidBias}, 1)
	bias, err := Detach(G.NewVector(scores.Graph(), v.Dtype(), G.WithShape(1), G.WithName(name), G.WithValue(v)))
	if err != nil {
		return nil, err
	}
	return addScoreBias(biased{Heads: a.scores.Heads}, scores, bias)
}
