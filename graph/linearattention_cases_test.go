package graph_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"attention/graph"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// linearCase is a LinearAttention of 2 sequences, with 2 key heads of 3 channels and values of width 5.
type linearCase struct {
	name        string
	T           int
	groups      int // query heads per key head; 0 means 1
	decays      int // of a head
	beta, state bool
	lengths     []float64
	strength    float64 // scale of the decays; 0 means 0.3
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

// composed is the recurrence as a graph with an op for each step, for the first sequence, without State and Lengths.
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
