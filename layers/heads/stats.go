package heads

import (
	"attention/graph"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Stats returns the statistics of one head's weights, in which H is 1, in a separate graph that shares the values of
// kept operands. The value of head, an int (), selects the head at run time, so that one plan serves all heads. Query
// t's own key is key t.
func Stats(kept layers.AttentionOperands) (head *G.Node, s *graph.AttentionStats, err error) {
	k := newKeeper(false)
	o, err := k.attention(kept)
	if err != nil {
		return nil, nil, err
	}
	if o.Additive != nil { // one head, whose scores are the bias of an attention without products
		if o.Config.Bias, err = graph.AdditiveScores(o.Query, o.Key, o.Additive); err != nil {
			return nil, nil, err
		}
		o.Query, o.Key = zeros("no query", o.Query), zeros("no key", o.Key)
	}
	head = G.NewScalar(k.graph, tensor.Int, G.WithName("head"))
	r, err := graph.FusedAttention(graph.FusedInputs{Query: o.Query, Key: o.Key, Head: head}, o.Config)
	return head, r.Stats, err
}

// zeros returns a node of zeros with the rows of like, one wide.
func zeros(name string, like *G.Node) *G.Node {
	shape := like.Shape().Clone()
	shape[len(shape)-1] = 1
	return G.NewTensor(like.Graph(), like.Dtype(), len(shape), G.WithShape(shape...), G.WithName(name),
		G.WithInit(G.Zeroes()))
}
