package heads

import (
	"cmp"
	"fmt"

	"attention/graph"
	"attention/internal/dense"
	"attention/internal/expr"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Implied returns the weights (1, T, T) that the outputs of a head of linear attention imply, see
// layers.LinearOperands.Weights, and the norms (T) of its state after each token: the roots of the sums of its squares.
// They are nodes of a new graph, computed from the values that the operands have after a run. The operands are those of
// one text, without an axis of batches. The norms take T·D·Dv of memory.
func Implied(o layers.LinearOperands, head int) (weights, norms *G.Node, err error) {
	one, err := ofLinear(o, head)
	if err != nil {
		return nil, nil, err
	}
	if weights, err = one.Weights(); err != nil {
		return nil, nil, err
	}
	norms, err = stateNorms(one)
	return weights, norms, err
}

// ofLinear returns the operands of one head, as inputs of a new graph.
func ofLinear(o layers.LinearOperands, head int) (layers.LinearOperands, error) {
	c := o.Config
	heads := cmp.Or(c.Heads, 1)
	keyHeads := cmp.Or(c.KVHeads, heads)
	if err := check(head, heads); err != nil {
		return o, err
	}
	r, g := reader{}, G.NewGraph()
	one := func(n *G.Node, name string, of int) *G.Node {
		if n == nil {
			return nil
		}
		v := r.columns(n, of, head*of/heads)
		if r.err != nil {
			return nil
		}
		return matrix(g, name, v, n.Shape()[0])
	}
	o = layers.LinearOperands{Normalize: o.Normalize, Query: one(o.Query, "query", heads),
		Key: one(o.Key, "key", keyHeads), Value: one(o.Value, "value", keyHeads),
		Config: graph.LinearAttentionConfig{Heads: 1, KVHeads: 1, Scale: c.Scale, Decay: one(c.Decay, "decay", keyHeads),
			Beta: one(c.Beta, "beta", keyHeads)}}
	return o, r.err
}

// stateNorms returns the norms (T) of one head's states. Queries of 1 in one channel each read the whole state.
func stateNorms(o layers.LinearOperands) (*G.Node, error) {
	T, D, c := o.Key.Shape()[0], o.Key.Shape()[1], o.Config
	if !dense.Fits(T, D, max(D, o.Value.Shape()[1])) {
		return nil, fmt.Errorf("heads: state: got D=%d for %d tokens, want fewer elements", D, T)
	}
	each := make([]float32, T*D*D)
	for i := range T * D {
		each[i*D+i%D] = 1
	}
	c.Heads, c.Scale = D, 1
	var f expr.Formula
	states, _, err := graph.LinearAttention(matrix(o.Key.Graph(), "channels", each, T), o.Key, o.Value, c)
	states = f.Of(states, err) // (T, D·Dv)
	squares := f.Of(graph.Mul(states, states))
	return f.Result(f.Of(G.Sqrt(f.Of(graph.Sum(squares, graph.ReduceConfig{Dim: []int{-1}}))))) // (T)
}

// matrix returns an input (rows, …) that holds v.
func matrix(g *G.ExprGraph, name string, v []float32, rows int) *G.Node {
	shape := tensor.Shape{rows, len(v) / rows}
	return G.NewMatrix(g, tensor.Float32, G.WithShape(shape...), G.WithName(name),
		G.WithValue(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(v))))
}
