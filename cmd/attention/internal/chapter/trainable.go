package chapter

import (
	"errors"
	"fmt"
	"math"

	"attention/graph"
	"attention/layers"
	"attention/layers/chapter"

	G "gorgonia.org/gorgonia"
)

// rawWeights are W_query, W_key and W_value (3, 2), drawn as SelfAttentionV1 draws its own.
func (p *page) rawWeights() (query, key, value *G.Node, err error) {
	for _, w := range []struct {
		name string
		to   **G.Node
	}{{"W_query", &query}, {"W_key", &key}, {"W_value", &value}} {
		param, err := p.params.Scope("").Param(w.name, layers.Uniform(0, 1), 3, 2)
		if err != nil {
			return nil, nil, nil, err
		}
		*w.to = p.Of(p.build.Node(param), p.build.Err())
	}
	return query, key, value, nil
}

// stepByStep follows the second token through self-attention with weights to train.
func (p *page) stepByStep() error {
	x := p.tokens()
	queryWeights, keyWeights, valueWeights, err := p.rawWeights()
	if err != nil {
		return err
	}
	p.tensor(queryWeights, "The weights of the queries; keys and values have their own.",
		"walk/W_query").axes("004/3 d_in", "004/3 d_out")
	query := p.Of(graph.MatMul(p.row(x, 1), queryWeights))
	p.tensor(query, "The query of the second token: the token times these weights.",
		"002/11 query_2", "004/5 query_2").axes("004/10 len(query_2)")
	keys, values := p.Of(graph.MatMul(x, keyWeights)), p.Of(graph.MatMul(x, valueWeights))
	p.size(keys, "The size of the keys: every token has one.",
		"002/12 keys.shape")
	p.size(values, "The size of the values: every token has one.",
		"002/12 values.shape")

	scores := p.Of(graph.Linear(query, keys, nil)) // query·keys[s] for every s
	p.tensor(p.row(scores, 1), "The score of the second token with itself: its query times its key.",
		"002/13 attn_score_22", "004/9 attn_score_22")
	p.tensor(scores, "Its scores with all tokens.",
		"002/14 attn_scores_2")
	weights := p.Of(graph.Softmax(p.Of(graph.Scale(scores, 1/math.Sqrt(2)))))
	p.tensor(weights, "Its weights: the softmax of the scores over the root of a key's width.",
		"002/15 attn_weights_2")
	p.tensor(p.Of(graph.MatMul(weights, values)), "Its context vector: the values, each times its weight, added up.",
		"002/16 context_vec_2")
	return nil
}

// fiveTokens is stepByStep with another input, of which no notebook prints the last token.
func (p *page) fiveTokens() error {
	x := p.input("tokens", p.dense([]float64{
		0.43, 0.15, 0.89,
		0.55, 0.87, 0.66,
		0.57, 0.85, 0.64,
		0.22, 0.58, 0.33,
		0.02, 0.81, 0.52,
	}, 5, 3))
	queryWeights, keyWeights, valueWeights, err := p.rawWeights()
	if err != nil {
		return err
	}
	p.tensor(x, "Four of the six tokens, and a new one.",
		"walk/five inputs")
	query := p.Of(graph.MatMul(p.row(x, 1), queryWeights))
	keys, values := p.Of(graph.MatMul(x, keyWeights)), p.Of(graph.MatMul(x, valueWeights))
	p.size(keys, "The size of their keys.",
		"walk/five keys.shape").axes("004/10 keys.shape[0]", "004/10 keys.shape[1]")
	scores := p.Of(graph.Linear(query, keys, nil))
	p.tensor(scores, "The scores of the second token.",
		"004/11 attn_scores_2")
	weights := p.Of(graph.Softmax(p.Of(graph.Scale(scores, 1/math.Sqrt(2)))))
	p.tensor(weights, "Its weights.",
		"004/12 attn_weights_2")
	p.tensor(p.sum(weights), "The sum of these weights.",
		"004/12 attn_weights_2.sum()")
	p.tensor(p.Of(graph.MatMul(weights, values)), "Its context vector.",
		"004/13 context_vec_2")
	return nil
}

func newV1(s layers.Scope) (*chapter.SelfAttentionV1, error) {
	return chapter.NewSelfAttentionV1(s, chapter.SelfAttentionV1Config{EmbedDim: 3, OutDim: 2})
}

func newV2(s layers.Scope) (*layers.Attention, error) {
	return layers.NewAttention(s, chapter.SelfV2(3, 2))
}

// selfAttentionV1 is stepByStep for all tokens.
func (p *page) selfAttentionV1() error {
	v1, err := newV1(p.params.Scope(""))
	if err != nil {
		return err
	}
	p.tensor(p.Of(v1.Forward(p.build, p.tokens())), "The context vectors of all six tokens.",
		"002/18 sa_v1(inputs)", "003/3 context_vectors")
	return nil
}

// selfAttentionV2 is the layer with linear projections, and how such a projection begins.
func (p *page) selfAttentionV2() error {
	v2, err := newV2(p.params.Scope("v2"))
	if err != nil {
		return err
	}
	x := p.tokens()
	p.tensor(p.Of(v2.Forward(p.build, x)), "The context vectors of all six tokens.",
		"002/20 sa_v2(inputs)", "003/3 sa_v2(inputs)")

	var l *layers.Linear // after v2's three projections, number four to eight
	for number := 4; number <= 8; number++ {
		if l, err = layers.NewLinear(p.params.Scope(fmt.Sprint(number)), layers.LinearConfig{In: 3, Out: 2}); err != nil {
			return err
		}
	}
	if p.Of(l.Forward(p.build, x)); p.Err() != nil {
		return p.Err()
	}
	learnables := p.build.Learnables()
	p.tensor(learnables[len(learnables)-1], "How the weight of a projection begins: here the eighth after the seed.",
		"003/8 query.weight")
	return nil
}

// movedWeights gives a layer of each kind the weights of the other.
func (p *page) movedWeights() error {
	v2, err2 := newV2(p.params.Scope("v2"))
	v1, err1 := newV1(p.params.Scope("v1"))
	fromV2, errFrom2 := newV1(p.params.Scope("from_v2"))
	fromV1, errFrom1 := newV2(p.params.Scope("from_v1"))
	if err := errors.Join(err2, err1, errFrom2, errFrom1); err != nil {
		return err
	}
	if err := errors.Join(chapter.SetV1(fromV2, v2), chapter.SetV2(fromV1, v1)); err != nil {
		return err
	}
	x := p.tokens()
	p.tensor(p.Of(v2.Forward(p.build, x)), "The context vectors of a SelfAttentionV2.",
		"002/22 sa_v2_v1_cv")
	p.tensor(p.Of(fromV2.Forward(p.build, x)), "A SelfAttentionV1 with these weights, transposed, gives the same.",
		"walk/v1 with the weights of v2")
	p.tensor(p.Of(v1.Forward(p.build, x)), "The context vectors of a SelfAttentionV1.",
		"002/23 sa_v1_v2_cv")
	p.tensor(p.Of(fromV1.Forward(p.build, x)), "A SelfAttentionV2 with these weights, transposed, gives the same.",
		"002/24 sa_v2_v1(inputs)")
	return nil
}
