package graph_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The graph with a step for each token is the specification: the form in chunks equals it, forward and backward.
func TestLinearAttentionEqualsComposed(t *testing.T) {
	if testenv.Race {
		t.Skip("the time goes into graphs of a step for each token, which one goroutine builds")
	}
	for _, c := range linearAttentions() {
		if c.state || c.lengths != nil {
			continue
		}
		if c.T = min(c.T, 67); c.name != "linear_attention_gated_delta" {
			c.T = min(c.T, 19)
		}
		for _, p := range tolerances {
			t.Run(c.name+"/"+p.dt.String(), func(t *testing.T) {
				r := rand.New(rand.NewPCG(7, 8))
				in := c.in(r)
				chunked, composed := express(t, c.op, in, p.dt), express(t, c.composed, in, p.dt)
				dout := normal(r, chunked.out.Shape()...)
				chunked.differentiate(t, in, dout, p.dt)
				composed.differentiate(t, in, dout, p.dt)
				nearResult(t, c.name, composed.onOurs(t), chunked.onOurs(t), 2*p.tol)
			})
		}
	}
}

// TestLinearAttentionState: the state is that of the recurrence, and a call that begins with it continues the sequence.
func TestLinearAttentionState(t *testing.T) {
	for _, c := range linearAttentions() {
		r := rand.New(rand.NewPCG(9, 10))
		in := c.in(r)
		var plain []array
		for _, x := range in {
			plain = append(plain, x.array)
		}
		_, want := c.naive(plain)
		got := express(t, func(in G.Nodes) (*G.Node, error) {
			_, state, err := graph.LinearAttention(in[0], in[1], in[2], c.config(in))
			return state, err
		}, in, tensor.Float64).onOurs(t)
		near(t, c.name, want, got.out, 1e-12)
	}
}

// TestCachedLinearAttention: chunks of any lengths give the outputs of the whole sequence, both with a cache and with
// states that are passed from call to call. The same holds for convolutions.
func TestCachedLinearAttention(t *testing.T) {
	for _, c := range linearAttentions() {
		if c.state || c.lengths != nil {
			continue
		}
		r := rand.New(rand.NewPCG(11, 12))
		in := c.in(r)
		whole := express(t, c.op, in, tensor.Float64).onOurs(t).out
		cache, err := graph.NewStateCache(tensor.Float64, linearBatch, linearHeads, linearKey, linearValue)
		require.NoError(t, err)
		for from, i := 0, 0; from < c.T; i++ {
			to := min(from+[]int{1, 5, 1, 64, 17}[i%5], c.T)
			g := G.NewGraph()
			var nodes G.Nodes
			for j, x := range in {
				nodes = append(nodes, node(g, string(rune('a'+j)), tokenRows(x.array, from, to), tensor.Float64))
			}
			start := G.NewScalar(g, tensor.Int, G.WithName("start"), G.WithValue(from))
			out, err := graph.CachedLinearAttention(nodes[0], nodes[1], nodes[2], start, cache, c.config(nodes))
			require.NoError(t, err)
			m, err := machine.New(out)
			require.NoError(t, err)
			require.NoError(t, m.RunAll())
			near(t, c.name, tokenRows(whole, from, to), arrayOf(t, out.Value()), 1e-12)
			require.NoError(t, m.Close())
			from = to
			require.Equal(t, from, cache.Len())
		}
		require.Equal(t, 8*linearBatch*linearHeads*linearKey*linearValue, cache.Bytes())
		require.EqualError(t, cache.Truncate(c.T+1), "graph: StateCache: length: got "+itoa(c.T+1)+", want 0 or "+itoa(c.T)+
			": a state has all tokens or none")
		require.NoError(t, cache.Truncate(c.T))
		require.Equal(t, c.T, cache.Len())
		require.NoError(t, cache.Truncate(0))
		require.Zero(t, cache.Len())
	}
}

// TestLinearAttentionInBFloat16: the operands of products are rounded to bfloat16, and the results are near the results
// without rounding.
func TestLinearAttentionInBFloat16(t *testing.T) {
	for _, c := range linearAttentions() {
		if c.T == 1 {
			continue // a single token has no products of matrices
		}
		r := rand.New(rand.NewPCG(13, 14))
		in := c.in(r)
		run := func(p graph.Precision) result {
			e := express(t, func(in G.Nodes) (*G.Node, error) {
				config := c.config(in)
				config.Precision = p
				out, _, err := graph.LinearAttention(in[0], in[1], in[2], config)
				return out, err
			}, in, tensor.Float32)
			e.differentiate(t, in, normal(rand.New(rand.NewPCG(1, 1)), e.out.Shape()...), tensor.Float32)
			return e.onOurs(t)
		}
		full, rounded := run(graph.FullPrecision), run(graph.BFloat16)
		require.NotEqual(t, full.out, rounded.out)
		near(t, c.name, full.out, rounded.out, 0.1)
		for i := range full.grads {
			require.NotEqual(t, full.grads[i], rounded.grads[i])
			far, size := 0.0, 0.0
			for j, v := range full.grads[i].v {
				far, size = math.Hypot(far, v-rounded.grads[i].v[j]), math.Hypot(size, v)
			}
			require.LessOrEqual(t, far, 0.02*size, "%s: gradient %d", c.name, i)
		}
	}
}

// TestLinearAttentionMemory: the memory of a forward and its gradients grows linearly with T.
func TestLinearAttentionMemory(t *testing.T) {
	taken := func(T int) int {
		g := G.NewGraph()
		var wrt G.Nodes
		for _, width := range []int{64, 64, 64, 2, 2} {
			wrt = append(wrt, node(g, itoa(len(wrt)), zeros(1, T, width), tensor.Float32))
		}
		out, _, err := graph.LinearAttention(wrt[0], wrt[1], wrt[2], graph.LinearAttentionConfig{Heads: 2, Decay: wrt[3],
			Beta: wrt[4]})
		require.NoError(t, err)
		grads, err := G.Backpropagate(G.Nodes{out}, G.Nodes{node(g, "dout", zeros(1, T, 64), tensor.Float32)}, wrt)
		require.NoError(t, err)
		m, err := machine.New(append(grads, out)...)
		require.NoError(t, err)
		defer m.Close()
		require.NoError(t, m.RunAll())
		return m.Memory().Planned
	}
	one, eight := taken(1024), taken(8192)
	require.Less(t, eight, 9*one)
	require.Less(t, eight, 4*8192*64*8, "outputs, gradients and a state of half a chunk's keys for each chunk")
}

func TestLinearAttentionRefuses(t *testing.T) {
	for _, row := range []struct {
		q, k, v, decay, beta, state, lengths s
		heads, kv                            int
		want                                 string
	}{
		{q: s{6}, k: s{6}, v: s{6}, heads: 2, want: "q: shape (6), want ([B,] T, H·D) with H=2"},
		{q: s{5, 7}, k: s{5, 6}, v: s{5, 6}, heads: 2, want: "q: shape (5, 7), want ([B,] T, H·D) with H=2"},
		{q: s{5, 6}, k: s{5, 5}, v: s{5, 6}, heads: 2, want: "k: shape (5, 5), want (5, 6)"},
		{q: s{5, 12}, k: s{5, 12}, v: s{5, 6}, heads: 4, kv: 2, want: "k: shape (5, 12), want (5, 6)"},
		{q: s{5, 6}, k: s{5, 6}, v: s{4, 6}, heads: 2, want: "v: shape (4, 6), want (5, K·Dv) with K=2"},
		{q: s{5, 6}, k: s{5, 6}, v: s{5, 6}, decay: s{5, 3}, heads: 2, want: "decay: shape (5, 3), want (5, 2) or (5, 6)"},
		{q: s{5, 6}, k: s{5, 6}, v: s{5, 6}, beta: s{5}, heads: 2, want: "beta: shape (5), want (5, 2)"},
		{q: s{3, 5, 6}, k: s{3, 5, 6}, v: s{3, 5, 8}, state: s{2, 3, 4}, heads: 2,
			want: "state: shape (2, 3, 4), want (3, 2, 3, 4)"},
		{q: s{3, 5, 6}, k: s{3, 5, 6}, v: s{3, 5, 8}, lengths: s{5}, heads: 2, want: "lengths: shape (5), want (3)"},
		{q: s{5, 6}, k: s{5, 6}, v: s{5, 6}, heads: 2, kv: 4, want: "key/value heads: got 4, want a divisor of the 2 heads"},
		{q: s{5, 6}, k: s{5, 6}, v: s{5, 6}, heads: -1, want: "heads: got -1, want at least 0"},
	} {
		g := G.NewGraph()
		node := func(dt tensor.Dtype, name string, shape []int) *G.Node {
			if shape == nil {
				return nil
			}
			return G.NewTensor(g, dt, len(shape), G.WithShape(shape...), G.WithName(name))
		}
		f := tensor.Float32
		_, _, err := graph.LinearAttention(node(f, "q", row.q), node(f, "k", row.k), node(f, "v", row.v),
			graph.LinearAttentionConfig{Heads: row.heads, KVHeads: row.kv, Decay: node(f, "decay", row.decay),
				Beta: node(f, "beta", row.beta), State: node(f, "state", row.state),
				Lengths: node(tensor.Int, "lengths", row.lengths)})
		require.EqualError(t, err, "graph: LinearAttention: "+row.want)
	}
}
