package layers

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"attention/graph"
	"attention/internal/dense"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// LinearOperands are the nodes that the outputs of a linear attention's heads are computed from, with heads side by
// side. graph.LinearAttention maps them to these outputs, before the norm and the gate.
type LinearOperands struct {
	Query *G.Node // ([B,] T, H·D), with features and norm
	Key   *G.Node // ([B,] T, K·D)
	Value *G.Node // ([B,] T, K·Dv)

	Normalize bool // whether the outputs are divided by what values of 1 would give
	Config    graph.LinearAttentionConfig
}

// output returns what the queries read of values ([B,] T, K·N), by read, which also reads the sums of the weights.
func (o LinearOperands) output(v *G.Node, read func(v *G.Node, sums bool) (*G.Node, error)) (*G.Node, error) {
	var f expr.Formula
	out := f.Of(read(v, false))
	if !o.Normalize || f.Err() != nil {
		return f.Result(out)
	}
	rows := o.Key.Shape()[:o.Key.Dims()-1]
	ones := o.constants("ones", slices.Repeat([]float64{1}, rows.TotalSize()*o.Config.KVHeads), o.Config.KVHeads)
	sums := f.Of(read(ones, true)) // ([B,] T, H)
	out = f.Of(graph.SplitHeads(out, o.Config.Heads))
	sums = f.Of(graph.SplitHeads(sums, o.Config.Heads))
	sums = f.Of(graph.Clamp(sums, 1e-30, math.Inf(1))) // that of a token beyond a length is 0
	return f.Result(f.Of(graph.MergeHeads(f.Of(graph.Div(out, sums)))))
}

// read returns what the queries read of values, without a cache.
func (o LinearOperands) read(v *G.Node, _ bool) (*G.Node, error) {
	out, _, err := graph.LinearAttention(o.Query, o.Key, v, o.Config)
	return out, err
}

// Weights returns the weights (…, H, T, T) that the outputs of the heads imply: out[t] is the sum over s of
// weights[t, s]·v[s], as if the recurrence were written out. Those of the delta rule, or without Features, may be below
// 0. They take T² of memory, which the layer itself does not.
func (o LinearOperands) Weights() (*G.Node, error) {
	if slices.Contains([]*G.Node{o.Query, o.Key, o.Value}, nil) {
		return nil, errorf("operands", "got nil, want those of LinearCall.Operands")
	}
	if _, err := o.read(o.Value, false); err != nil {
		return nil, inLayer("operands", err)
	}
	var f expr.Formula
	o.Config.Heads = cmp.Or(o.Config.Heads, 1)
	o.Config.KVHeads = cmp.Or(o.Config.KVHeads, o.Config.Heads)
	T, K, rows := length(o.Query), o.Config.KVHeads, o.Key.Shape()[:o.Key.Dims()-1].TotalSize()
	if !dense.Fits(rows, o.Config.Heads, T) {
		return nil, errorf("operands", "weights: got %d heads of %d tokens, want fewer elements", o.Config.Heads, T)
	}
	each := make([]float64, rows*K*T) // the values of a token: 1 in its own column
	for i := range rows * K {
		each[i*T+i/K%T] = 1
	}
	out := f.Of(o.output(o.constants(fmt.Sprintf("identity of %d", T), each, K*T), o.read)) // (…, T, H·T)
	return f.Result(f.Of(graph.SplitHeads(out, o.Config.Heads)))
}

// constants returns a node ([B,] T, width) with these values, in the operands' graph. Those of one name and shape have
// the same.
func (o LinearOperands) constants(name string, values []float64, width int) *G.Node {
	shape := append(o.Key.Shape()[:o.Key.Dims()-1].Clone(), width)
	return constantIn(o.Key.Graph(), name, dense.Of(o.Key.Dtype(), values, shape...))
}
