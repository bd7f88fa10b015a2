package chapter

import "attention/layers"

// additive is the attention of a translator's decoder to the sentence it translates (Bahdanau, Cho and Bengio 2014).
func (p *page) additive() error {
	l, err := layers.NewAdditiveAttention(p.params.Scope(""), layers.AdditiveAttentionConfig{QueryDim: 2, KeyDim: 3, AttnDim: 4})
	if err != nil {
		return err
	}
	states := p.input("states", p.dense([]float64{
		0.3, 0.9,
		0.8, 0.1,
	}, 2, 2))
	p.tensor(states, "A decoder's states before the two words that it writes next.",
		"walk/decoder states")
	x := p.tokens()
	context := p.Of(l.Forward(p.build, states, x))
	weights := p.withoutHeads(p.Of(l.Weights(p.build, states, x)))
	p.tensor(weights, "How much each word attends to the six tokens of the source.",
		"walk/additive weights")
	p.tensor(context, "The context vector of each word: the tokens, each times its weight, added up.",
		"walk/additive context")
	return nil
}
