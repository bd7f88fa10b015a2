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

// drawMask draws a mask (t, t) of dropout with probability drop. The chapter draws a mask for six tokens before the
// layers of later sections.
func drawMask(p *layers.Params, drop float64, t int) *tensor.Dense {
	return p.Draw(layers.Bernoulli(1-drop), t, t)
}

// dropped returns a sentence about weights, which says whether some are dropped.
func (w *walk) dropped(text string) string {
	if w.Mode() == layers.Train {
		return text + ", with dropout."
	}
	return text + "."
}

// unlessDropped returns the formula of a value, or the given word if a layer drops weights on which the value depends.
func (w *walk) unlessDropped(formula string) string {
	if w.Mode() == layers.Train {
		return given
	}
	return formula
}

var dropout = Section{
	Title: "Dropout",
	Text:  "Dropout sets random elements to 0: half of a matrix, of the causal weights, of the context vectors.",
	Why: "In training, each step drops other weights at random, so that no token comes to rely on a single other token. " +
		"The kept weights are divided by 1 − p. The mean of a weight therefore stays the same, and a model in use, which " +
		"has no dropout, needs no correction. The rate p is set, not learnt: the chapter's 0.5 shows the effect, and " +
		"models in practice use 0.1 to 0.2, or none. Dropout can follow the weights or the context vectors.",
	Words:   sentence,
	Seed:    789,
	Dropout: dropProbability,
	build: func(w *walk) {
		q, k, v := w.queriesKeysAndValues(w.tokens())
		p, t := w.section.Dropout, len(w.words())
		draws := layers.NewParams(w.Params().Dtype(), w.seed())
		keep := w.input("keep", drawMask(draws, p, t))
		keepContext := w.input("keep_context", draws.Draw(layers.Bernoulli(1-p), t, 2))
		drop := func(x, keep *G.Node) *G.Node {
			return w.Of(graph.Scale(w.Of(graph.Mul(x, keep)), 1/(1-p)))
		}
		ones := w.ones()
		w.part(ones, "ones", "A matrix of ones.", w.words(), w.words())
		w.part(keep, "keep", "The mask of dropout, drawn at random: 1 for kept, 0 for dropped.", w.words(), w.words())
		w.show(drop(ones, keep), "dropout(ones)",
			"Ones, some dropped at random (with their own seed), the others over 1 − p.", w.words(), w.words()).
			exactly(fmt.Sprintf("ones⊙keep / %v", 1-p))
		masked := w.Of(graph.MaskFill(w.Of(graph.Scores(q, k)), mask.Causal{}))
		w.show(masked, "masked = fill(q·kᵀ)", "The causal scores.", w.words(), w.words())
		weights := w.causalWeights(q, k)
		w.show(weights, "weights = softmax(masked / √2)", "The causal weights.", w.words(), w.words())
		dropped := drop(weights, keep)
		w.show(dropped, "dropout(weights)", "The causal weights with the same places dropped, as in training.",
			w.words(), w.words()).exactly(fmt.Sprintf("weights⊙keep / %v", 1-p))
		w.show(w.Of(graph.MatMul(dropped, v)), "context = dropout(weights)·v",
			"The context vectors of this training step; the next step drops other weights.", w.words(), nil)
		w.part(keepContext, "keep_context", "A second mask, for the context vectors.", w.words(), nil)
		w.show(drop(w.Of(graph.MatMul(weights, v)), keepContext), "dropout(weights·v)",
			"The other place for dropout: the context vectors of all weights.", w.words(), nil).
			exactly(fmt.Sprintf("(weights·v)⊙keep_context / %v", 1-p))
	},
}
