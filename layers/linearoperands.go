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
	"gorgonia.org/tensor"
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
	o, T, err := o.checked()
	if err != nil {
		return nil, err
	}
	var f expr.Formula
	K, rows := o.Config.KVHeads, o.Key.Shape()[:o.Key.Dims()-1].TotalSize()
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

// StateNorms returns the norm (…, K, T) of the state of each head after each token, the root of the sum of its squares;
// 0 beyond a length. It takes T·D·Dv of memory for each head: queries of 1 in one channel read the whole state.
func (o LinearOperands) StateNorms() (*G.Node, error) {
	o, _, err := o.checked()
	if err != nil {
		return nil, err
	}
	var f expr.Formula
	c, K := o.Config, o.Config.KVHeads
	D, rows := last(o.Key)/K, o.Key.Shape()[:o.Key.Dims()-1].TotalSize()
	if !dense.Fits(rows, K*D, max(D, last(o.Value)/K)) {
		return nil, errorf("operands", "state: got %d heads of D=%d, want fewer elements", K, D)
	}
	each := make([]float64, rows*K*D*D)
	for i := range rows * K * D {
		each[i*D+i%D] = 1
	}
	c.Heads, c.Scale = K*D, 1
	states, _, err := graph.LinearAttention(o.constants("channels", each, K*D*D), o.Key, o.Value, c) // ([B,] T, K·D·Dv)
	states = f.Of(graph.SplitHeads(f.Of(states, err), K))                                            // (…, K, T, D·Dv)
	squares := f.Of(graph.Mul(states, states))
	return f.Result(f.Of(G.Sqrt(f.Of(graph.Sum(squares, graph.ReduceConfig{Dim: []int{-1}})))))
}

// Kept returns the operands as inputs of a new graph, with copies of the values that the nodes have after a run: they
// outlive the graph and the machine that computed them.
func (o LinearOperands) Kept() (LinearOperands, error) {
	k := newKeeper(cloned)
	o.Query, o.Key, o.Value = k.keep(o.Query, "query"), k.keep(o.Key, "key"), k.keep(o.Value, "value")
	o.Config.Decay, o.Config.Beta = k.keep(o.Config.Decay, "decay"), k.keep(o.Config.Beta, "beta")
	o.Config.State, o.Config.Lengths = k.keep(o.Config.State, "state"), k.keep(o.Config.Lengths, "lengths")
	return o, k.err
}

// Head returns the operands of one head, as inputs of a graph of their own that hold the values which the nodes have
// after a run. They are those of one text, without an axis of batches.
func (o LinearOperands) Head(head int) (LinearOperands, error) {
	o, T, err := o.checked()
	if err != nil {
		return LinearOperands{}, err
	}
	c := o.Config
	if head < 0 || head >= c.Heads {
		return LinearOperands{}, errorf("operands", "head: got %d, want 0 to %d", head, c.Heads-1)
	}
	r, g := operandReader{}, G.NewGraph()
	one := func(n *G.Node, name string, heads int) *G.Node {
		if n == nil {
			return nil
		}
		v := r.columns(n, heads, head*heads/c.Heads)
		if r.err != nil {
			return nil
		}
		return G.NewMatrix(g, tensor.Float32, G.WithShape(T, len(v)/T), G.WithName(name),
			G.WithValue(tensor.New(tensor.WithShape(T, len(v)/T), tensor.WithBacking(v))))
	}
	of := LinearOperands{Normalize: o.Normalize, Config: graph.LinearAttentionConfig{Heads: 1, KVHeads: 1, Scale: c.Scale,
		Decay: one(c.Decay, "decay", c.KVHeads), Beta: one(c.Beta, "beta", c.KVHeads)}}
	of.Query = one(o.Query, "query", c.Heads)
	of.Key, of.Value = one(o.Key, "key", c.KVHeads), one(o.Value, "value", c.KVHeads)
	return of, r.err
}

// checked returns the operands with the defaults of their numbers of heads, and the length of the text. It refuses
// those that graph.LinearAttention does.
func (o LinearOperands) checked() (_ LinearOperands, T int, err error) {
	for _, n := range []*G.Node{o.Query, o.Key, o.Value} {
		if n == nil {
			return o, 0, errorf("operands", "got nil, want those of LinearCall.Operands")
		}
	}
	if _, _, err := graph.LinearAttention(o.Query, o.Key, o.Value, o.Config); err != nil {
		return o, 0, inLayer("operands", err)
	}
	o.Config.Heads = cmp.Or(o.Config.Heads, 1)
	o.Config.KVHeads = cmp.Or(o.Config.KVHeads, o.Config.Heads)
	return o, length(o.Query), nil
}

// constants returns a node ([B,] T, width) with these values, in the operands' graph. Those of one name and shape have
// the same.
func (o LinearOperands) constants(name string, values []float64, width int) *G.Node {
	shape := append(o.Key.Shape()[:o.Key.Dims()-1].Clone(), width)
	return constantIn(o.Key.Graph(), name, dense.Of(o.Key.Dtype(), values, shape...))
}
