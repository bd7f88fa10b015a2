package chapter

import (
	"errors"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"
	"attention/layers/chapter"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// maskByZeros hides later tokens after the softmax.
func (p *page) maskByZeros() error {
	v2, err := newV2(p.params.Scope(""))
	if err != nil {
		return err
	}
	weights := p.withoutHeads(p.Of(v2.Weights(p.build, layers.AttentionInput{Query: p.tokens()})))
	p.tensor(weights, "The attention weights of SelfAttentionV2: every token sees every token.",
		"002/25 attn_weights")
	mask := p.Of(graph.Tril(p.input("ones", p.ones(6, 6))))
	p.tensor(mask, "The mask: a token may see itself and those before it.",
		"002/26 mask_simple")
	masked := p.Of(graph.Mul(weights, mask))
	p.tensor(masked, "Weights times mask: what may not be seen has weight 0.",
		"002/27 masked_simple")
	p.tensor(p.Of(graph.DivideBySum(masked)), "Divided by their sum, the weights of each row sum to one again.",
		"002/28 masked_simple_norm")
	return nil
}

// queriesAndKeys are those of SelfAttentionV2.
func (p *page) queriesAndKeys() (q, k *G.Node, err error) {
	query, errQuery := layers.NewLinear(p.params.Scope("W_query"), layers.LinearConfig{In: 3, Out: 2})
	key, errKey := layers.NewLinear(p.params.Scope("W_key"), layers.LinearConfig{In: 3, Out: 2})
	if err := errors.Join(errQuery, errKey); err != nil {
		return nil, nil, err
	}
	x := p.tokens()
	return p.Of(query.Forward(p.build, x)), p.Of(key.Forward(p.build, x)), nil
}

// causalWeights are softmax(fill(q·kᵀ)/√D).
func (p *page) causalWeights(q, k *G.Node) *G.Node {
	_, weights := p.Of2(graph.Attention(q, k, k, graph.AttentionConfig{Mask: mask.Causal{}}))
	return weights
}

// maskByInfinity hides later tokens before the softmax.
func (p *page) maskByInfinity() error {
	q, k, err := p.queriesAndKeys()
	if err != nil {
		return err
	}
	p.tensor(p.Of(graph.CausalFill(p.Of(graph.Scores(q, k)))), "The scores, minus infinity where a token may not be seen.",
		"002/29 masked")
	p.tensor(p.causalWeights(q, k), "Their scaled softmax: weight 0 there, and each row sums to one at once.",
		"002/30 attn_weights")
	return nil
}

// dropProbability is the chapter's probability of dropout.
const dropProbability = 0.5

// chapterMask draws the chapter's mask of dropout; the layers of later sections are drawn after it.
func (p *page) chapterMask() *tensor.Dense {
	return p.params.Draw(layers.Bernoulli(1-dropProbability), 6, 6)
}

// dropout drops half of some ones and of the causal weights.
func (p *page) dropout() error {
	q, k, err := p.queriesAndKeys()
	if err != nil {
		return err
	}
	keep := p.input("keep", newPage(p.params.Dtype(), 123).chapterMask())
	ones := p.input("ones", p.ones(6, 6))
	p.tensor(p.Of(graph.DropoutMask(ones, keep, dropProbability)), "Ones, half of them dropped by chance (seed 123); what stays is doubled.",
		"002/31 dropout(example)")
	p.tensor(p.Of(graph.DropoutMask(p.causalWeights(q, k), keep, dropProbability)), "The causal weights with the same places dropped, as in training.",
		"002/32 dropout(attn_weights)")
	return nil
}

// newCausal makes the chapter's CausalAttention, which is drawn after the mask.
func (p *page) newCausal() (*layers.Attention, error) {
	p.chapterMask()
	return layers.NewAttention(p.params.Scope("causal"), chapter.Causal(3, 2))
}

// causalAttention is the causal layer on a batch of two.
func (p *page) causalAttention() error {
	causal, err := p.newCausal()
	if err != nil {
		return err
	}
	batch := p.twice(p.tokens())
	p.tensor(batch, "A batch: the six tokens twice.",
		"002/34 batch").axes("002/43 batch_size", "002/43 num_tokens", "002/43 d_in")
	p.size(batch, "Its size: sequences, tokens, numbers of a token.",
		"002/33 batch.shape")
	context := p.Of(causal.Forward(p.build, batch))
	p.tensor(context, "The context vectors: no token sees a later one, no sequence the other.",
		"002/36 context_vecs")
	p.size(context, "Their size.",
		"002/36 context_vecs.shape")
	return nil
}
