package chapter

import (
	"attention/graph"
	"attention/graph/mask"
	"attention/internal/oneline"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

var maskByZeros = Section{
	Title: "A causal mask of zeros",
	Text:  "Later tokens are hidden after the softmax.",
	Seed:  789,
	build: func(w *walk) error {
		v2, err := w.newV2("")
		if err != nil {
			return err
		}
		weights := w.withoutHeads(w.Of(v2.Weights(w.Build, layers.AttentionInput{Query: w.tokens()})))
		w.show(weights, "weights = softmax(q·kᵀ / √2)",
			"The attention weights of SelfAttentionV2: every token sees every token.")
		mask := w.Of(graph.Tril(w.ones(6)))
		w.show(mask, "mask = tril(ones)", "The mask: a token may see itself and those before it.")
		masked := w.Of(graph.Mul(weights, mask))
		w.show(masked, "masked = weights⊙mask", "Weights times mask: what may not be seen has weight 0.")
		normed := w.Of(graph.DivideBySum(masked))
		w.show(normed, "normed = masked / Σ masked",
			"Divided by their sum, the weights of each row sum to one again.")
		return nil
	},
}

// queriesAndKeys are those of SelfAttentionV2.
func (w *walk) queriesAndKeys() (q, k *G.Node, err error) {
	query, errQuery := layers.NewLinear(w.Params().Scope("W_query"), layers.LinearConfig{In: 3, Out: 2})
	key, errKey := layers.NewLinear(w.Params().Scope("W_key"), layers.LinearConfig{In: 3, Out: 2})
	if err := oneline.Join(errQuery, errKey); err != nil {
		return nil, nil, err
	}
	x := w.tokens()
	return w.Of(query.Forward(w.Build, x)), w.Of(key.Forward(w.Build, x)), nil
}

// causalWeights are softmax(fill(q·kᵀ)/√D).
func (w *walk) causalWeights(q, k *G.Node) *G.Node {
	_, weights := w.Of2(graph.Attention(q, k, k, graph.AttentionConfig{Mask: mask.Causal{}}))
	return weights
}

var maskByInfinity = Section{
	Title: "A causal mask of minus infinity",
	Text:  "Later tokens are hidden before the softmax.",
	Seed:  789,
	build: func(w *walk) error {
		q, k, err := w.queriesAndKeys()
		if err != nil {
			return err
		}
		masked := w.Of(graph.MaskFill(w.Of(graph.Scores(q, k)), mask.Causal{}))
		w.show(masked, "masked = fill(q·kᵀ)", "The scores, minus infinity where a token may not be seen.")
		w.show(w.causalWeights(q, k), "weights = softmax(masked / √2)",
			"Their scaled softmax: weight 0 there, and each row sums to one at once.")
		return nil
	},
}

// dropProbability is the chapter's probability of dropout.
const dropProbability = 0.5

// chapterMask draws the chapter's mask of dropout; the layers of later sections are drawn
// after it.
func chapterMask(p *layers.Params) *tensor.Dense {
	return p.Draw(layers.Bernoulli(1-dropProbability), 6, 6)
}

var dropout = Section{
	Title: "Dropout",
	Text:  "Half of some ones and of the causal weights are dropped.",
	Seed:  789,
	build: func(w *walk) error {
		q, k, err := w.queriesAndKeys()
		if err != nil {
			return err
		}
		ones := w.ones(6)
		keep := w.input("keep", chapterMask(layers.NewParams(w.Params().Dtype(), 123)))
		drop := func(x *G.Node) *G.Node {
			return w.Of(graph.Scale(w.Of(graph.Mul(x, keep)), 1/(1-dropProbability)))
		}
		w.show(drop(ones), "dropout(ones)",
			"Ones, half of them dropped by chance (seed 123); what stays is doubled.")
		w.show(drop(w.causalWeights(q, k)), "dropout(weights)",
			"The causal weights with the same places dropped, as in training.")
		return nil
	},
}

// newCausal makes the chapter's CausalAttention, which is drawn after the mask.
func (w *walk) newCausal() (*layers.Attention, error) {
	chapterMask(w.Params())
	return layers.NewAttention(w.Params().Scope("causal"), Causal(3, 2))
}

var causalAttention = Section{
	Title: "CausalAttention on a batch",
	Text:  "The causal layer on a batch of two.",
	Seed:  123,
	build: func(w *walk) error {
		causal, err := w.newCausal()
		if err != nil {
			return err
		}
		batch := w.twice(w.tokens())
		w.show(batch, "batch = stack(x, x)", "A batch: the six tokens twice.")
		w.shape(batch, "batch.shape", "Its size: sequences, tokens, numbers of a token.")
		context := w.Of(causal.Forward(w.Build, batch))
		w.show(context, "context = causal(batch)",
			"The context vectors: no token sees a later one, no sequence the other.")
		w.shape(context, "context.shape", "Their size.")
		return nil
	},
}
