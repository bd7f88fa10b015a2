package chapter

import (
	"fmt"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// dropProbability is the chapter's probability of dropout.
const dropProbability = 0.5

// drawMask draws a mask (t, t) of dropout with probability drop. The chapter draws one of six
// tokens before the layers of later sections.
func drawMask(p *layers.Params, drop float64, t int) *tensor.Dense {
	return p.Draw(layers.Bernoulli(1-drop), t, t)
}

// dropped returns a sentence on weights, which says whether some are dropped.
func (w *walk) dropped(text string) string {
	if w.Mode() == layers.Train {
		return text + ", with dropout."
	}
	return text + "."
}

// unlessDropped returns the formula of a value, or the word given if a layer drops weights that it depends on.
func (w *walk) unlessDropped(formula string) string {
	if w.Mode() == layers.Train {
		return given
	}
	return formula
}

var dropout = Section{
	Title: "Dropout",
	Text:  "Some of a matrix of ones and of the causal weights are dropped, in the chapter half of them.",
	Why: "In training some weights are dropped by chance, anew in every step, so that no token can rely on a single " +
		"other one. What stays is divided by 1 − p, so that a weight is the same on average, and nothing has to change " +
		"when dropout is off, as it is whenever the model is used. The rate p is set, not learnt.",
	Words:   sentence,
	Seed:    789,
	Dropout: dropProbability,
	build: func(w *walk) {
		q, k, v := w.queriesKeysAndValues()
		p, t := w.section.Dropout, len(w.words())
		keep := w.input("keep", drawMask(layers.NewParams(w.Params().Dtype(), w.seed()), p, t))
		drop := func(x *G.Node) *G.Node {
			return w.Of(graph.Scale(w.Of(graph.Mul(x, keep)), 1/(1-p)))
		}
		ones := w.ones()
		w.part(ones, "ones", "A matrix of ones.", w.words(), w.words())
		w.part(keep, "keep", "What is kept, drawn by chance: 1, or 0 for what is dropped.", w.words(), w.words())
		w.show(drop(ones), "dropout(ones)",
			"Ones, some dropped by chance (a seed of their own); the rest over 1 − p.", w.words(), w.words()).
			exactly(fmt.Sprintf("ones⊙keep / %v", 1-p))
		masked := w.Of(graph.MaskFill(w.Of(graph.Scores(q, k)), mask.Causal{}))
		w.show(masked, "masked = fill(q·kᵀ)", "The causal scores.", w.words(), w.words())
		weights := w.causalWeights(q, k)
		w.show(weights, "weights = softmax(masked / √2)", "The causal weights.", w.words(), w.words())
		dropped := drop(weights)
		w.show(dropped, "dropout(weights)", "The causal weights with the same places dropped, as in training.",
			w.words(), w.words()).exactly(fmt.Sprintf("weights⊙keep / %v", 1-p))
		w.show(w.Of(graph.MatMul(dropped, v)), "context = dropout(weights)·v",
			"The context vectors of this step of training; the next drops other weights.", w.words(), nil)
	},
}
