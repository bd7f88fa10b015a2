package chapter

import (
	"fmt"
	"math"

	"attention/graph"
	"attention/internal/oneline"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// rawWeights are W_query, W_key and W_value (3, 2), drawn as SelfV1's.
func (w *walk) rawWeights() (query, key, value *G.Node, err error) {
	var nodes [3]*G.Node
	for i, name := range []string{"W_query", "W_key", "W_value"} {
		p, err := w.Params().Scope("").Param(name, layers.Uniform(0, 1), 3, 2)
		if err != nil {
			return nil, nil, nil, err
		}
		nodes[i] = w.Node(p)
	}
	return nodes[0], nodes[1], nodes[2], nil
}

var stepByStep = Section{
	Title: "Weights to train, step by step",
	Text:  "Self-attention with weights to train, for the second token.",
	Seed:  123,
	build: func(w *walk) error {
		x := w.tokens()
		queryWeights, keyWeights, valueWeights, err := w.rawWeights()
		if err != nil {
			return err
		}
		w.show(queryWeights, "W_query", "The weights of the queries; keys and values have their own.")
		query := w.Of(graph.MatMul(w.row(x, 1), queryWeights))
		w.show(query, "query = x[1]·W_query", "The query of the second token: the token times these weights.")
		keys, values := w.Of(graph.MatMul(x, keyWeights)), w.Of(graph.MatMul(x, valueWeights))
		w.shape(keys, "keys.shape", "The size of the keys: every token has one.")
		w.shape(values, "values.shape", "The size of the values: every token has one.")

		scores := w.Of(graph.Linear(query, keys, nil)) // query·keys[s] for every s
		w.show(w.row(scores, 1), "score = query·keys[1]",
			"The score of the second token with itself: its query times its key.")
		w.show(scores, "scores = query·keysᵀ", "Its scores with all tokens.")
		weights := w.Of(graph.Softmax(w.Of(graph.Scale(scores, 1/math.Sqrt(2)))))
		w.show(weights, "weights = softmax(scores / √2)",
			"Its weights: the softmax of the scores over the root of a key's width.")
		context := w.Of(graph.MatMul(weights, values))
		w.show(context, "context = weights·values", "Its context vector: the values, each times its weight, added up.")
		return nil
	},
}

var fiveTokens = Section{
	Title: "The same steps with five tokens",
	Text:  "The same weights, for the second token of another input.",
	Seed:  123,
	build: func(w *walk) error {
		x := w.numbers("tokens", []float64{
			0.43, 0.15, 0.89,
			0.55, 0.87, 0.66,
			0.57, 0.85, 0.64,
			0.22, 0.58, 0.33,
			0.02, 0.81, 0.52, // which no notebook prints
		}, 5, 3)
		queryWeights, keyWeights, valueWeights, err := w.rawWeights()
		if err != nil {
			return err
		}
		w.show(x, "x", "Four of the six tokens, and a new one.")
		query := w.Of(graph.MatMul(w.row(x, 1), queryWeights))
		keys, values := w.Of(graph.MatMul(x, keyWeights)), w.Of(graph.MatMul(x, valueWeights))
		w.shape(keys, "keys.shape", "The size of their keys.")
		scores := w.Of(graph.Linear(query, keys, nil))
		w.show(scores, "scores = query·keysᵀ", "The scores of the second token.")
		weights := w.Of(graph.Softmax(w.Of(graph.Scale(scores, 1/math.Sqrt(2)))))
		w.show(weights, "weights = softmax(scores / √2)", "Its weights.")
		w.show(w.sum(weights), "weights.sum()", "The sum of these weights.")
		context := w.Of(graph.MatMul(weights, values))
		w.show(context, "context = weights·values", "Its context vector.")
		return nil
	},
}

func (w *walk) newV1(path string) (*layers.Attention, error) {
	return layers.NewAttention(w.Params().Scope(path), SelfV1(3, 2))
}

func (w *walk) newV2(path string) (*layers.Attention, error) {
	return layers.NewAttention(w.Params().Scope(path), SelfV2(3, 2))
}

var selfAttentionV1 = Section{
	Title: "SelfAttentionV1: the steps as a layer",
	Text:  "Self-attention with weights to train, for all tokens.",
	Seed:  123,
	build: func(w *walk) error {
		v1, err := w.newV1("")
		if err != nil {
			return err
		}
		context := w.Of(v1.Forward(w.Build, w.tokens()))
		w.show(context, "context = softmax(q·kᵀ / √2)·v", "The context vectors of all six tokens.")
		return nil
	},
}

var selfAttentionV2 = Section{
	Title: "SelfAttentionV2: linear projections",
	Text:  "The layer with linear projections, and how such a projection begins.",
	Seed:  789,
	build: func(w *walk) error {
		v2, err := w.newV2("v2")
		if err != nil {
			return err
		}
		x := w.tokens()
		context := w.Of(v2.Forward(w.Build, x))
		w.show(context, "context = softmax(q·kᵀ / √2)·v", "The context vectors of all six tokens.")

		var l *layers.Linear // after v2's three projections, number four to eight
		for number := 4; number <= 8; number++ {
			l, err = layers.NewLinear(w.Params().Scope(fmt.Sprint(number)), layers.LinearConfig{In: 3, Out: 2})
			if err != nil {
				return err
			}
		}
		if w.Of(l.Forward(w.Build, x)); w.Err() != nil {
			return w.Err()
		}
		learnables := w.Learnables()
		w.show(learnables[len(learnables)-1], "W_query.weight",
			"How the weight of a projection begins: here the eighth after the seed.")
		return nil
	},
}

var movedWeights = Section{
	Title: "Weights moved between the two layers",
	Text:  "A layer of each kind gets the weights of the other.",
	Seed:  123,
	build: func(w *walk) error {
		v2, err2 := w.newV2("v2")
		v1, err1 := w.newV1("v1")
		fromV2, errFrom2 := w.newV1("from_v2")
		fromV1, errFrom1 := w.newV2("from_v1")
		if err := oneline.Join(err2, err1, errFrom2, errFrom1); err != nil {
			return err
		}
		state1, err1 := v1.State(layers.Book) // transposed
		state2, err2 := v2.State(layers.Book)
		if err := oneline.Join(err1, err2); err != nil {
			return err
		}
		if err := oneline.Join(fromV2.SetState(layers.Book, state2), fromV1.SetState(layers.Book, state1)); err != nil {
			return err
		}
		x := w.tokens()
		w.show(w.Of(v2.Forward(w.Build, x)), "v2(x)", "The context vectors of a SelfAttentionV2.")
		w.show(w.Of(fromV2.Forward(w.Build, x)), "from_v2(x)",
			"A SelfAttentionV1 with these weights, transposed, gives the same.")
		w.show(w.Of(v1.Forward(w.Build, x)), "v1(x)", "The context vectors of a SelfAttentionV1.")
		w.show(w.Of(fromV1.Forward(w.Build, x)), "from_v1(x)",
			"A SelfAttentionV2 with these weights, transposed, gives the same.")
		return nil
	},
}
