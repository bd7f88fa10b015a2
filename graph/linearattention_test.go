package graph_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/expr"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// linearCase is a LinearAttention of 2 sequences with 2 heads of keys, of 3 channels, and values of 5.
type linearCase struct {
	name        string
	T           int
	groups      int // heads of queries for each of keys; 0 means 1
	decays      int // of a head
	beta, state bool
	lengths     []float64
	strength    float64 // of the decays; 0 means 0.3
}

func linearAttentions() []linearCase {
	return []linearCase{
		{name: "linear_attention", T: 67},
		{name: "linear_attention_gated", T: 67, decays: 1},
		{name: "linear_attention_channels", T: 37, decays: 3},
		{name: "linear_attention_delta", T: 67, beta: true},
		{name: "linear_attention_gated_delta", T: 131, decays: 1, beta: true},
		{name: "linear_attention_channels_delta", T: 37, decays: 3, beta: true},
		{name: "linear_attention_state", T: 67, decays: 1, beta: true, state: true},
		{name: "linear_attention_lengths", T: 67, decays: 1, beta: true, state: true, lengths: []float64{67, 13}},
		{name: "linear_attention_grouped", T: 67, decays: 1, beta: true, groups: 3},
		{name: "linear_attention_grouped_channels", T: 19, decays: 3, beta: true, groups: 3},
		{name: "linear_attention_strong", T: 67, decays: 1, beta: true, strength: 500},
		{name: "linear_attention_strong_channels", T: 37, decays: 3, beta: true, strength: 500},
		{name: "linear_attention_weak", T: 67, decays: 1, beta: true, strength: 1e-7},
		{name: "linear_attention_one", T: 1, decays: 1, beta: true, state: true},
	}
}

const linearBatch, linearHeads, linearKey, linearValue = 2, 2, 3, 5

// in draws the inputs: keys of length 1, decays of at most 0, β between 0 and 1.
func (c linearCase) in(r *rand.Rand) []input {
	const B, K, D = linearBatch, linearHeads, linearKey
	k := normal(r, B, c.T, K*D)
	for row := range slices.Chunk(k.v, D) {
		length := math.Hypot(math.Hypot(row[0], row[1]), row[2])
		for i := range row {
			row[i] /= length
		}
	}
	all := inputs(normal(r, B, c.T, max(c.groups, 1)*K*D), k, normal(r, B, c.T, K*linearValue))
	if c.decays > 0 {
		strength := c.strength
		if strength == 0 {
			strength = 0.3
		}
		decay := mapped(normal(r, B, c.T, K*c.decays), func(v float64) float64 { return -strength * math.Abs(v) })
		all = append(all, input{array: decay})
	}
	if c.beta {
		beta := mapped(normal(r, B, c.T, K), func(v float64) float64 { return 1 / (1 + math.Exp(v)) })
		all = append(all, input{array: beta})
	}
	if c.state {
		all = append(all, input{array: normal(r, B, K, D, linearValue)})
	}
	if c.lengths != nil {
		all = append(all, ids(c.lengths, B))
	}
	return all
}

// config returns the options for input nodes.
func (c linearCase) config(in G.Nodes) graph.LinearAttentionConfig {
	config := graph.LinearAttentionConfig{Heads: max(c.groups, 1) * linearHeads, KVHeads: linearHeads}
	rest := in[3:]
	take := func(given bool) (n *G.Node) {
		if given {
			n, rest = rest[0], rest[1:]
		}
		return n
	}
	config.Decay, config.Beta, config.State = take(c.decays > 0), take(c.beta), take(c.state)
	config.Lengths = take(c.lengths != nil)
	return config
}

func (c linearCase) op(in G.Nodes) (*G.Node, error) {
	out, _, err := graph.LinearAttention(in[0], in[1], in[2], c.config(in))
	return out, err
}

func linearAttentionCases() (cases []opCase) {
	for _, c := range linearAttentions() {
		cases = append(cases, opCase{name: c.name, op: c.op, in: c.in, want: func(in []array) array {
			out, _ := c.naive(in)
			return out
		}})
	}
	return cases
}

// naive is the recurrence, token by token. It returns the outputs and the last states.
func (c linearCase) naive(in []array) (out, state array) {
	const K, D, Dv = linearHeads, linearKey, linearValue
	q, k, v, rest := in[0], in[1], in[2], in[3:]
	take := func(given bool) (a array) {
		if given {
			a, rest = rest[0], rest[1:]
		}
		return a
	}
	decay, beta, first := take(c.decays > 0), take(c.beta), take(c.state)
	G := q.axis(-1) / (K * D)
	out, state = zeros(linearBatch, c.T, G*K*Dv), zeros(linearBatch, K, D, Dv)
	copy(state.v, first.v)
	for n := range linearBatch * c.T * K {
		b, t, h := n/(c.T*K), n/K%c.T, n%K
		if c.lengths != nil && float64(t) >= c.lengths[b] {
			continue
		}
		for j := range Dv {
			u := v.at(b, t, h*Dv+j)
			for d := range D {
				if c.decays > 0 {
					state.v[state.i(b, h, d, j)] *= math.Exp(decay.at(b, t, h*c.decays+d%c.decays))
				}
				if c.beta {
					u -= state.at(b, h, d, j) * k.at(b, t, h*D+d)
				}
			}
			if c.beta {
				u *= beta.at(b, t, h)
			}
			for d := range D {
				state.v[state.i(b, h, d, j)] += u * k.at(b, t, h*D+d)
				for g := range G {
					out.v[out.i(b, t, (h*G+g)*Dv+j)] += q.at(b, t, (h*G+g)*D+d) * state.at(b, h, d, j) / math.Sqrt(D)
				}
			}
		}
	}
	return out, state
}

// composed is the recurrence as a graph of an op for each step, of the first sequence without State and Lengths.
func (c linearCase) composed(in G.Nodes) (*G.Node, error) {
	const K, D, Dv = linearHeads, linearKey, linearValue
	var f expr.Formula
	config, groups := c.config(in), in[0].Shape()[2]/(K*D)
	row := func(x *G.Node, b, t, from, n int) *G.Node { // (1, n)
		all := f.Of(G.Reshape(x, tensor.Shape{linearBatch * c.T, x.Shape()[2]}))
		token := f.Of(graph.Rows(all, b*c.T+t, 1))
		widths := []int{from, n, all.Shape()[1] - from - n}
		at := 1
		if from == 0 {
			widths, at = widths[1:], 0
		}
		if widths[len(widths)-1] == 0 {
			widths = widths[:len(widths)-1]
		}
		parts, err := graph.Split(token, widths...)
		return f.Of(parts[at], err)
	}
	var rows G.Nodes
	for b := range linearBatch {
		state := make(G.Nodes, K)
		for t := range c.T {
			var outs G.Nodes
			for h := range K {
				k, u := row(in[1], b, t, h*D, D), row(in[2], b, t, h*Dv, Dv)
				s := state[h]
				if s != nil && config.Decay != nil {
					s = f.Of(graph.Mul(s, f.Of(graph.Transpose(f.Of(graph.Exp(row(config.Decay, b, t, h*c.decays, c.decays)))))))
				}
				if config.Beta != nil {
					if s != nil {
						u = f.Of(graph.Sub(u, f.Of(graph.MatMul(k, s))))
					}
					u = f.Of(graph.Mul(u, row(config.Beta, b, t, h, 1)))
				}
				write := f.Of(graph.MatMul(f.Of(graph.Transpose(k)), u))
				if s == nil {
					s = write
				} else {
					s = f.Of(graph.Add(s, write))
				}
				state[h] = s
				for g := range groups {
					o := f.Of(graph.MatMul(row(in[0], b, t, (h*groups+g)*D, D), s))
					outs = append(outs, f.Of(graph.Scale(o, 1/math.Sqrt(D))))
				}
			}
			rows = append(rows, f.Of(graph.Concat(outs...)))
		}
	}
	return f.Result(f.Of(G.Reshape(f.Of(graph.Concat(rows...)), tensor.Shape{linearBatch, c.T, groups * K * Dv})))
}

// The graph of a step for each token is the specification: the form in chunks equals it, forward and gradients.
func TestLinearAttentionEqualsComposed(t *testing.T) {
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

// TestLinearAttentionState: the state is that of the recurrence, and another call that begins with it goes on.
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

// TestCachedLinearAttention: chunks of any lengths give the outputs of the whole sequence, with a cache and by states
// from call to call; and so do convolutions.
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

// TestLinearAttentionInBFloat16: what is rounded is rounded to bfloat16, and the results are near those that are not.
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
