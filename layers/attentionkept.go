package layers

import (
	"cmp"
	"fmt"

	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Kept returns the operands as inputs of a new graph, with copies of the values that the nodes have after a run: they
// outlive the graph and the machine that computed them. Equal nodes stay equal.
func (o AttentionOperands) Kept() (AttentionOperands, error) {
	return o.inGraph(cloned)
}

func cloned(d *tensor.Dense) *tensor.Dense { return d.Clone().(*tensor.Dense) }

// Shared is Kept without copies: it shares the values of the nodes.
func (o AttentionOperands) Shared() (AttentionOperands, error) {
	return o.inGraph(func(d *tensor.Dense) *tensor.Dense { return d })
}

func (o AttentionOperands) inGraph(value func(d *tensor.Dense) *tensor.Dense) (AttentionOperands, error) {
	k := newKeeper(value)
	o.ProjectedQuery, o.ProjectedKey = k.keep(o.ProjectedQuery, "projected query"), k.keep(o.ProjectedKey, "projected key")
	o.Query, o.Key, o.Value = k.keep(o.Query, "query"), k.keep(o.Key, "key"), k.keep(o.Value, "value")
	o.Additive = k.keep(o.Additive, "additive")
	c := &o.Config
	c.Bias, c.RelativeBias = k.keep(c.Bias, "bias"), k.keep(c.RelativeBias, "relative bias")
	c.LogGates, c.Sinks = k.keep(c.LogGates, "log-gates"), k.keep(c.Sinks, "sinks")
	var err error
	c.Mask, err = mask.WithNodes(c.Mask, func(n *G.Node) *G.Node { return k.keep(n, "mask") })
	return o, cmp.Or(k.err, err)
}

// keeper makes nodes inputs of a graph.
type keeper struct {
	graph *G.ExprGraph
	value func(d *tensor.Dense) *tensor.Dense
	kept  map[*G.Node]*G.Node
	err   error // of the first that has no value
}

func newKeeper(value func(d *tensor.Dense) *tensor.Dense) *keeper {
	return &keeper{graph: G.NewGraph(), value: value, kept: map[*G.Node]*G.Node{nil: nil}}
}

// keep returns the input for a node; nil of nil.
func (k *keeper) keep(n *G.Node, name string) *G.Node {
	if kept, ok := k.kept[n]; ok {
		return kept
	}
	value, ok := n.Value().(*tensor.Dense)
	if !ok {
		k.err = cmp.Or(k.err, errorf("operands", "%s: got no value, want that of a run", name))
		return nil
	}
	name = fmt.Sprintf("%s %d", name, len(k.kept)) // inputs of one name and shape are one node
	k.kept[n] = G.NewTensor(k.graph, value.Dtype(), value.Dims(), G.WithShape(value.Shape()...), G.WithName(name),
		G.WithValue(k.value(value)))
	return k.kept[n]
}

// HeadStats returns the statistics of one head's weights, in which H is 1: of the head whose number is the value of
// head when the graph runs. A query's own key is the one of its number. Additive attention has one head, whose scores
// are the bias of an attention without products.
func (o AttentionOperands) HeadStats(head *G.Node) (*graph.AttentionStats, error) {
	if o.Additive == nil {
		return graph.FusedAttentionHeadStats(o.Query, o.Key, head, o.Config, 0)
	}
	scores, err := graph.AdditiveScores(o.Query, o.Key, o.Additive)
	if err != nil {
		return nil, err
	}
	none := func(name string, like *G.Node) *G.Node {
		shape := like.Shape().Clone()
		shape[len(shape)-1] = 1
		return G.NewTensor(like.Graph(), like.Dtype(), len(shape), G.WithShape(shape...), G.WithName(name),
			G.WithInit(G.Zeroes()))
	}
	c := o.Config
	c.Bias = scores
	return graph.FusedAttentionHeadStats(none("no query", o.Query), none("no key", o.Key), head, c, 0)
}
