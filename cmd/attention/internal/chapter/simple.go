package chapter

import (
	"attention/graph"
	"attention/layers/chapter"

	G "gorgonia.org/gorgonia"
)

// tokens are the chapter's example (T=6, E=3).
func (p *page) tokens() *G.Node {
	return p.input("tokens", p.dense([]float64{
		0.43, 0.15, 0.89,
		0.55, 0.87, 0.66,
		0.57, 0.85, 0.64,
		0.22, 0.58, 0.33,
		0.77, 0.25, 0.10,
		0.05, 0.80, 0.55,
	}, 6, 3))
}

// oneQuery is self-attention without weights to train, for the second token.
func (p *page) oneQuery() error {
	x := p.tokens()
	p.tensor(x, "Six tokens, three numbers each.",
		"walk/inputs")
	scores := p.Of(graph.Linear(p.row(x, 1), x, nil)) // x[1]·x[s] for every s
	p.tensor(scores, "The second token asks: its scores are its dot products with all tokens.",
		"002/2 attention_scores", "002/3 attention_scores", "003/1 attn_scores_2")

	weights := p.Of(graph.DivideBySum(scores))
	p.tensor(weights, "Divided by their sum, the scores become weights.",
		"002/3 attention_scores_normed", "003/1 attn_weights_2_tmp")
	p.tensor(p.sum(weights), "The sum of these weights.",
		"002/3 attention_scores_normed.sum()", "003/1 attn_weights_2_tmp.sum()")

	weights = p.Of(graph.DivideBySum(p.Of(graph.Exp(scores))))
	p.tensor(weights, "The softmax by its formula: exponentials of the scores, divided by their sum.",
		"002/4 attention_scores_softmax", "003/1 attn_weights_2_naive")
	p.tensor(p.sum(weights), "The sum of these weights.",
		"002/4 attention_scores_softmax.sum()", "003/1 attn_weights_2_naive.sum()")

	weights = p.Of(graph.Softmax(scores))
	p.tensor(weights, "The same softmax, computed so that no score is too large for it.",
		"002/5 torch_softmax_attn_scores", "003/1 attn_weights_2")
	p.tensor(p.sum(weights), "The sum of these weights.",
		"002/5 torch_softmax_attn_scores.sum()", "003/1 attn_weights_2.sum()")

	p.tensor(p.Of(graph.MatMul(weights, x)), "The context vector: the tokens, each times its weight, added up.",
		"002/6 context_vector", "003/1 context_vec_2")
	return nil
}

// allQueries is the same for every token at once.
func (p *page) allQueries() error {
	x := p.tokens()
	p.tensor(p.Of(graph.Scores(x, x)), "Every token asks: each row holds the scores of one token with all tokens.",
		"002/7 attention_scores", "002/8 attention_scores", "002/9 attention_scores",
		"003/2 attn_scores (loops)", "003/2 attn_scores (product)")
	p.build.Observe("*") // so that the context vectors are computed from the weights
	context := p.Of(chapter.SimpleSelfAttention{}.Forward(p.build, x))
	weights := p.withoutHeads(p.Of(chapter.SimpleSelfAttention{}.Weights(p.build, x)))
	p.tensor(weights, "The attention weights: the softmax of each row.",
		"003/2 attn_weights", "walk/simple weights")
	p.tensor(p.sum(weights, 1), "The sum of each row of weights.",
		"002/9 attention_weights.sum(dim=-1)")
	p.tensor(context, "The context vectors, one for each token.",
		"002/10 context_vectors")
	return nil
}
