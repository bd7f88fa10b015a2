package heads

import (
	"cmp"
	"fmt"

	"attention/graph/mask"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Keep returns the operands as inputs of a new graph, with copies of the values that the nodes have after a run: they
// outlive the graph and the machine that computed them. Equal nodes stay equal.
func Keep(o layers.AttentionOperands) (layers.AttentionOperands, error) {
	return newKeeper(true).attention(o)
}

// KeepLinear is Keep for linear attention.
func KeepLinear(o layers.LinearOperands) (layers.LinearOperands, error) {
	k := newKeeper(true)
	o.Query, o.Key, o.Value = k.keep(o.Query, "query"), k.keep(o.Key, "key"), k.keep(o.Value, "value")
	o.Config.Decay, o.Config.Beta = k.keep(o.Config.Decay, "decay"), k.keep(o.Config.Beta, "beta")
	o.Config.State, o.Config.Lengths = k.keep(o.Config.State, "state"), k.keep(o.Config.Lengths, "lengths")
	return o, k.err
}

// keeper makes nodes inputs of a graph.
type keeper struct {
	graph  *G.ExprGraph
	copies bool // the values, or else shares them
	kept   map[*G.Node]*G.Node
	err    error // of the first node without a value
}

func newKeeper(copies bool) *keeper {
	return &keeper{graph: G.NewGraph(), copies: copies, kept: map[*G.Node]*G.Node{nil: nil}}
}

// attention makes all operands inputs.
func (k *keeper) attention(o layers.AttentionOperands) (layers.AttentionOperands, error) {
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

// keep returns the input for a node; nil for nil.
func (k *keeper) keep(n *G.Node, name string) *G.Node {
	if kept, ok := k.kept[n]; ok {
		return kept
	}
	value, ok := n.Value().(*tensor.Dense)
	if !ok {
		k.err = cmp.Or(k.err, fmt.Errorf("heads: %s: got no value, want that of a run", name))
		return nil
	}
	if k.copies {
		value = value.Clone().(*tensor.Dense)
	}
	name = fmt.Sprintf("%s %d", name, len(k.kept)) // inputs of one name and shape are one node
	k.kept[n] = G.NewTensor(k.graph, value.Dtype(), value.Dims(), G.WithShape(value.Shape()...), G.WithName(name),
		G.WithValue(value))
	return k.kept[n]
}
