package graph_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// fusedBy and composedBy are both forms of attention over q, k, v and a dropout key.
func fusedBy(c graph.AttentionConfig) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) {
		if len(in) > 3 {
			c.Dropout.Key = in[3]
		}
		return fusedAttention(in[0], in[1], in[2], c)
	}
}

func composedBy(c graph.AttentionConfig) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) {
		if len(in) > 3 {
			c.Dropout.Key = in[3]
		}
		return context(graph.Attention(in[0], in[1], in[2], c))
	}
}

// both runs the two forms with their gradients.
func both(t testing.TB, c graph.AttentionConfig, in []input, dt tensor.Dtype) (fused, composed result) {
	t.Helper()
	var got [2]result
	for i, op := range []func(in G.Nodes) (*G.Node, error){fusedBy(c), composedBy(c)} {
		e := express(t, op, in, dt)
		e.differentiate(t, in, normal(rand.New(rand.NewPCG(9, 9)), e.out.Shape()...), dt)
		got[i] = e.onOurs(t)
	}
	return got[0], got[1]
}

// nearResult compares values and all gradients.
func nearResult(t testing.TB, what string, want, got result, tol float64) {
	t.Helper()
	near(t, what, want.out, got.out, tol)
	require.Len(t, got.grads, len(want.grads))
	for i := range want.grads {
		near(t, fmt.Sprintf("%s: gradient %d", what, i), want.grads[i], got.grads[i], tol)
	}
}

// The composed attention is the specification: the fused one equals it for every config and for any sizes, forward and
// backward, with the same dropout.
func TestFusedAttentionEqualsComposed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.IntRange(1, 9)
		lead := rapid.SliceOfN(rapid.IntRange(1, 3), 0, 2).Draw(rt, "leading axes")
		T, S, D, Dv := size.Draw(rt, "T"), size.Draw(rt, "S"), size.Draw(rt, "D"), size.Draw(rt, "Dv")
		c := graph.AttentionConfig{
			Heads: rapid.IntRange(0, 3).Draw(rt, "heads"),
			Scale: rapid.SampledFrom([]float64{0, 1, 0.3}).Draw(rt, "scale"),
			Mask:  rapid.SampledFrom([]mask.Mask{nil, mask.Causal{}}).Draw(rt, "mask"),
		}
		if c.Mask != nil {
			S = T
		}
		if rapid.Bool().Draw(rt, "drops") {
			c.Dropout = graph.DropoutConfig{P: rapid.SampledFrom([]float64{0.1, 0.5, 0.9}).Draw(rt, "p"),
				Site: rapid.IntRange(0, 3).Draw(rt, "site")}
		}
		keyHeads := max(c.Heads, 1)
		if c.Heads > 1 && rapid.Bool().Draw(rt, "grouped") {
			c.Heads *= 2
			c.KVHeads = keyHeads
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		array := func(rows, cols int) array {
			return normal(r, append(append([]int{}, lead...), rows, cols)...)
		}
		in := inputs(array(T, max(c.Heads, 1)*D), array(S, keyHeads*D), array(S, keyHeads*Dv))
		if c.Dropout.P > 0 {
			in = append(in, key(float64(rapid.IntRange(-1000, 1000).Draw(rt, "key"))))
		}
		p := rapid.SampledFrom(tolerances).Draw(rt, "type")
		fused, composed := both(t, c, in, p.dt)
		nearResult(t, fmt.Sprintf("%+v", c), composed, fused, 10*p.tol)
	})
}

// Sequences that fill several tiles, and end within one.
func TestFusedAttentionOfManyTiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, T := range []int{63, 64, 65, 129, 300} {
		for _, c := range []graph.AttentionConfig{
			{Heads: 2}, {Heads: 2, Mask: mask.Causal{}}, {Mask: mask.Causal{},
				Dropout: graph.DropoutConfig{P: 0.3, Site: 2}},
		} {
			in := inputs(normal(r, T, 14), normal(r, T, 14), normal(r, T, 22))
			if c.Dropout.P > 0 {
				in = append(in, key(77))
			}
			for _, p := range tolerances {
				fused, composed := both(t, c, in, p.dt)
				nearResult(t, fmt.Sprintf("T=%d %+v", T, c), composed, fused, 10*p.tol)
			}
		}
	}
}

// Query heads that share a key/value head attend to the same keys and values.
func TestGroupedHeads(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	q, k, v := normal(r, 2, 5, 6*7), normal(r, 2, 5, 2*7), normal(r, 2, 5, 2*3)
	shared := func(x array) array { return naiveRepeatHeads(naiveSplitHeads(x, 2), 3) }
	out, weights := naiveAttention(naiveSplitHeads(q, 6), shared(k), shared(v), rootScale(of(nil, 7)), causal)
	c := graph.AttentionConfig{Heads: 6, KVHeads: 2, Mask: mask.Causal{}}
	got, gotWeights := attend(t, c, q, k, v)
	near(t, "out", naiveMergeHeads(out), got, 1e-12)
	near(t, "weights", weights, gotWeights, 1e-12)
	near(t, "fused", naiveMergeHeads(out), compute(t, fusedBy(c), q, k, v), 1e-12)
}

// Attention with heads equals the attention of each head's columns alone.
func TestAttentionByHeads(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	q, k, v := normal(r, 2, 5, 3*7), normal(r, 2, 5, 3*7), normal(r, 2, 5, 3*2)
	out, weights := naiveAttention(naiveSplitHeads(q, 3), naiveSplitHeads(k, 3), naiveSplitHeads(v, 3),
		rootScale(of(nil, 7)), causal)
	c := graph.AttentionConfig{Heads: 3, Mask: mask.Causal{}}
	got, gotWeights := attend(t, c, q, k, v)
	near(t, "out", naiveMergeHeads(out), got, 1e-12)
	near(t, "weights", weights, gotWeights, 1e-12)
	near(t, "fused", naiveMergeHeads(out), compute(t, fusedBy(c), q, k, v), 1e-12)
}

// Huge scores, hidden keys and NaN have the same effect in the fused op as in the composed form.
func TestFusedAttentionOfExtremeScores(t *testing.T) {
	for _, c := range []graph.AttentionConfig{{}, {Mask: mask.Causal{}}} {
		for _, size := range []float64{1e2, 1e4, 1e15, inf, nan} {
			for bad := range 3 {
				q, k, v := of([]float64{1, -2, 3}, 3, 1), of([]float64{2, 1, -1}, 3, 1), of([]float64{1, 2, 3}, 3, 1)
				q.v[bad] = size
				in := inputs(q, k, v)
				if c.Mask == nil {
					k.v[1] = -1 // no row of +∞·0
				}
				for _, p := range tolerances {
					fused, composed := both(t, c, in, p.dt)
					near(t, fmt.Sprintf("%+v, %v in query %d", c, size, bad), composed.out, fused.out, p.tol)
				}
			}
		}
	}
}

// The dropout key of the fused op, too, is set for each run.
func TestFusedAttentionsKeyIsAnInput(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	in := append(inputs(normal(r, 7, 5), normal(r, 7, 5), normal(r, 7, 3)), key(1))
	e := express(t, fusedBy(graph.AttentionConfig{Dropout: graph.DropoutConfig{P: 0.5}}), in, tensor.Float64)
	m, err := machine.New(e.out)
	require.NoError(t, err)
	run := func(k int64) []float64 {
		require.NoError(t, G.Let(e.in[3], G.NewI64(k)))
		require.NoError(t, m.RunAll())
		return arrayOf(t, e.out.Value()).v
	}
	first := run(1)
	require.NotEqual(t, first, run(2))
	require.Equal(t, first, run(1))
}

func fusedAttentionCases() []opCase {
	return []opCase{
		{name: "fused", op: fusedBy(graph.AttentionConfig{}), want: attending(0, all),
			in: shapes(s{2, 3, 5}, s{2, 7, 5}, s{2, 7, 11})},
		{name: "fused_causal", op: fusedBy(graph.AttentionConfig{Mask: mask.Causal{}}), want: attending(0, causal),
			in: shapes(s{2, 3, 7, 5}, s{2, 3, 7, 5}, s{2, 3, 7, 11})},
		{name: "fused_heads", op: fusedBy(graph.AttentionConfig{Heads: 3, Mask: mask.Causal{}}),
			in: shapes(s{2, 7, 15}, s{2, 7, 15}, s{2, 7, 6})},
		{name: "fused_dropout", op: fusedBy(graph.AttentionConfig{Dropout: graph.DropoutConfig{P: 0.3, Site: 2}}),
			in: then(shapes(s{2, 3, 5}, s{2, 7, 5}, s{2, 7, 11}), key(-5))},
	}
}

// A row that a finite bias nearly hides, as −1e9 and the least number of the type do in torch, sees all keys equally:
// both forms pass the gradients of equal weights.
func TestFusedAttentionOfHugeEqualScores(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, p := range tolerances {
		for _, least := range []float64{-1e4, -1e9, -3e38} {
			q, k, v := normal(r, 2, 3, 5), normal(r, 2, 67, 5), normal(r, 2, 67, 3)
			b := zeros(3, 67)
			for i := range b.v[67:] {
				b.v[67+i] = least
			}
			clear(q.v[5:]) // scores of 0, so that their sums with the bias are exact
			in := inputs(q, k, v, b)
			var got [2]result
			for i, attend := range []func(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error){
				func(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error) {
					return context(graph.Attention(q, k, v, c))
				}, fusedAttention,
			} {
				e := express(t, func(in G.Nodes) (*G.Node, error) {
					return attend(in[0], in[1], in[2], graph.AttentionConfig{Bias: in[3]})
				}, in, p.dt)
				e.differentiate(t, in, normal(rand.New(rand.NewPCG(9, 9)), 2, 3, 3), p.dt)
				got[i] = e.onOurs(t)
			}
			nearResult(t, fmt.Sprintf("a bias of %v, %v", least, p.dt), got[0], got[1], p.tol)
		}
	}
}

// The forms of graph.FusedAttention, as functions of nodes.

func fusedAttention(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error) {
	r, err := graph.FusedAttention(graph.FusedInputs{Query: q, Key: k, Value: v}, c)
	return r.Out, err
}

func fusedAttentionStats(q, k, v *G.Node, c graph.AttentionConfig, offset int) (*G.Node, *graph.AttentionStats, error) {
	r, err := graph.FusedAttention(graph.FusedInputs{Query: q, Key: k, Value: v, Stats: true, Offset: offset}, c)
	return r.Out, r.Stats, err
}

func fusedAttentionPacked(qkv *G.Node, widths [3]int, c graph.AttentionConfig) (*G.Node, error) {
	r, err := graph.FusedAttention(graph.FusedInputs{Packed: qkv, Widths: widths}, c)
	return r.Out, err
}

func fusedAttentionHeadStats(q, k, head *G.Node, c graph.AttentionConfig, offset int) (*graph.AttentionStats, error) {
	r, err := graph.FusedAttention(graph.FusedInputs{Query: q, Key: k, Head: head, Offset: offset}, c)
	return r.Stats, err
}

func cachedAttention(q, k, v, start *G.Node, cache *graph.KVCache, c graph.AttentionConfig) (*G.Node, error) {
	r, err := graph.FusedAttention(graph.FusedInputs{Query: q, Key: k, Value: v, Start: start, Cache: cache}, c)
	return r.Out, err
}
