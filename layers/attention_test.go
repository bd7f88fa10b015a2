package layers_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// plainAttention has three heads of width 4 over tokens of width 5.
var plainAttention = layers.AttentionConfig{EmbedDim: 5, NumHeads: 3, HeadDim: 4}

func TestAttentionConfigsThatAreRefused(t *testing.T) {
	const huge = math.MaxInt32 + 1
	for says, change := range map[string]func(c *layers.AttentionConfig){
		"EmbedDim: got 0, want at least 1":                        func(c *layers.AttentionConfig) { c.EmbedDim = 0 },
		"NumHeads: got -1, want at least 1":                       func(c *layers.AttentionConfig) { c.NumHeads = -1 },
		"KDim: got -1, want at least 0":                           func(c *layers.AttentionConfig) { c.KDim = -1 },
		"VDim: got -1, want at least 0":                           func(c *layers.AttentionConfig) { c.VDim = -1 },
		"OutDim: got -1, want at least 0":                         func(c *layers.AttentionConfig) { c.OutDim = -1 },
		"NumKVHeads: got -1, want at least 0":                     func(c *layers.AttentionConfig) { c.NumKVHeads = -1 },
		"HeadDim: got -1, want at least 0":                        func(c *layers.AttentionConfig) { c.HeadDim = -1 },
		"ValueDim: got -1, want at least 0":                       func(c *layers.AttentionConfig) { c.ValueDim = -1 },
		"NumHeads: got 3, want a divisor of OutDim=5":             func(c *layers.AttentionConfig) { c.HeadDim = 0 },
		"NumKVHeads: got 2, want 0 or a divisor of NumHeads=3":    func(c *layers.AttentionConfig) { c.NumKVHeads = 2 },
		"NumKVHeads: got 6, want 0 or a divisor of NumHeads=3":    func(c *layers.AttentionConfig) { c.NumKVHeads = 6 },
		"Scale: got -1, want a finite number of at least 0":       func(c *layers.AttentionConfig) { c.Scale = -1 },
		"Softcap: got NaN, want a finite number of at least 0":    func(c *layers.AttentionConfig) { c.Softcap = math.NaN() },
		"QKNormEps: got +Inf, want a finite number of at least 0": func(c *layers.AttentionConfig) { c.QKNormEps = math.Inf(1) },
		"QKNormEps: got 1e-06 without QKNorm, want both":          func(c *layers.AttentionConfig) { c.QKNormEps = 1e-6 },
		"RoPE.Heads: got 3, want 0: they are NumHeads":            func(c *layers.AttentionConfig) { c.RoPE = &graph.RoPEConfig{Heads: 3} },
		"Mask: got a prefix of -1 keys, want at least 0":          func(c *layers.AttentionConfig) { c.Mask = mask.Prefix{N: -1} },
		"Mask: got nil in And, Or or Not, want a mask":            func(c *layers.AttentionConfig) { c.Mask = mask.Not(nil) },
		"Mask: got alignment 7, want one of [square upper_left lower_right]": func(c *layers.AttentionConfig) {
			c.Mask = mask.Or(mask.All{}, mask.SlidingWindow{Align: 7})
		},
		"OutStd: got -1, want a finite number of at least 0":       func(c *layers.AttentionConfig) { c.OutStd = -1 },
		"Dropout: got 1, want a number from 0 to below 1":          func(c *layers.AttentionConfig) { c.Dropout = 1 },
		"ContextDropout: got NaN, want a number from 0 to below 1": func(c *layers.AttentionConfig) { c.ContextDropout = math.NaN() },
		"OutDropout: got -0.5, want a number from 0 to below 1":    func(c *layers.AttentionConfig) { c.OutDropout = -0.5 },
		"Renormalize: got true with Sinks, want one of the two":    func(c *layers.AttentionConfig) { c.Sinks, c.Renormalize = true, true },
		`QKNorm: got "layer", want one of l2, rms`:                 func(c *layers.AttentionConfig) { c.QKNorm = "layer" },
		"RoPE.Dims: got 6, want an even number from 0 to D=4":      func(c *layers.AttentionConfig) { c.RoPE = &graph.RoPEConfig{Dims: 6} },
		"Align: got 7, want one of [square upper_left lower_right]": func(c *layers.AttentionConfig) {
			c.Align = 7
		},
		"Mask: got one that holds a node, want it in the input of a call": func(c *layers.AttentionConfig) {
			c.Mask = mask.And(mask.Causal{}, mask.KeyLengths{Lengths: new(G.Node)})
		},
		"ContextLength: got -1, want at least 0":                  func(c *layers.AttentionConfig) { c.ContextLength = -1 },
		"OutBias: got true with ContextOnly, want one of the two": func(c *layers.AttentionConfig) { c.ContextOnly, c.OutBias = true, true },
		"OutStd: got 0.5 with ContextOnly, want 0":                func(c *layers.AttentionConfig) { c.ContextOnly, c.OutStd = true, 0.5 },
		"OutDim: got 5 with ContextOnly, want 0 or the heads' 12": func(c *layers.AttentionConfig) { c.ContextOnly, c.OutDim = true, 5 },
		`Layout: got "per_head" with ALiBi, want another layout`:  func(c *layers.AttentionConfig) { c.Layout, c.ALiBi = layers.PerHead, true },
		`Layout: got "per_head" with NumKVHeads, want another layout`: func(c *layers.AttentionConfig) {
			c.Layout, c.NumKVHeads = layers.PerHead, 1
		},
		"NumHeads: got 65537, want at most 65536":                           func(c *layers.AttentionConfig) { c.NumHeads = 65537 },
		`Layout: got "jax", want one of book, torch, gpt2, llama, per_head`: func(c *layers.AttentionConfig) { c.Layout = "jax" },
		`Layout: got "gpt2" with KDim=7 and VDim=5, want both as EmbedDim=5, or another layout`: func(c *layers.AttentionConfig) {
			c.Layout, c.KDim = layers.GPT2, 7
		},
		"RelativeBias.Buckets: got 7, want an even number from 4 on, or if Unidirectional any from 2 on": func(c *layers.AttentionConfig) {
			c.RelativeBias = &layers.RelativeBiasConfig{Buckets: 7}
		},
		"RelativeBias.Buckets: got -2, want an even number from 4 on, or if Unidirectional any from 2 on": func(c *layers.AttentionConfig) {
			c.RelativeBias = &layers.RelativeBiasConfig{Buckets: -2, Unidirectional: true}
		},
		"RelativeBias.MaxDistance: got 8, want more than the 8 distances that have a bucket each": func(c *layers.AttentionConfig) {
			c.RelativeBias = &layers.RelativeBiasConfig{MaxDistance: 8}
		},
		"RelativeBias.MaxDistance: got 2147483648, want at most 2147483647": func(c *layers.AttentionConfig) {
			c.RelativeBias = &layers.RelativeBiasConfig{MaxDistance: huge}
		},
		"ContextLength: got 2147483648, want at most 2147483647": func(c *layers.AttentionConfig) { c.ContextLength = huge },
		"EmbedDim: got 2147483648, want at most 2147483647":      func(c *layers.AttentionConfig) { c.EmbedDim = huge },
		"HeadDim: got 2147483648, want at most 2147483647":       func(c *layers.AttentionConfig) { c.HeadDim = huge },
		"NumHeads: got 65536, which are 2147483648 wide together, want at most 2147483647": func(c *layers.AttentionConfig) {
			c.NumHeads, c.HeadDim, c.ValueDim = 65536, 32768, 1
		},
		"W_query.weight: shape (12, 2147483647), want at most 2147483647 elements": func(c *layers.AttentionConfig) { c.EmbedDim = huge - 1 },
	} {
		c := but(plainAttention, change)
		says = "layers: Attention: " + says
		require.EqualError(t, c.Validate(), says)
		p := layers.NewParams(tensor.Float32, 1)
		_, err := layers.NewAttention(p.Scope(""), c)
		require.EqualError(t, err, says)
		require.Zero(t, p.Len(), "nothing was made")
	}
	require.NoError(t, plainAttention.Validate())
}

// The names and shapes that a config announces are those that are made, and the
// default sizes are those that the fields document.
func TestParametersOfAnAttention(t *testing.T) {
	all := layers.AttentionConfig{EmbedDim: 12, NumHeads: 6, NumKVHeads: 2, QKVBias: true, OutBias: true, AddBiasKV: true,
		QKNorm: layers.RMSNorm, Sinks: true, Gate: true, RelativeBias: &layers.RelativeBiasConfig{}}
	shared := "q_norm.weight (2) k_norm.weight (2) sinks (6) gate_proj.weight (12, 12) relative_attention_bias.weight (32, 6)"
	biases := "bias_k (1, 1, 4) bias_v (1, 1, 4) "
	for layout, want := range map[layers.Layout]string{
		"": "W_query.weight (12, 12) W_query.bias (12) W_key.weight (4, 12) W_key.bias (4) W_value.weight (4, 12) W_value.bias (4) " +
			biases + "out_proj.weight (12, 12) out_proj.bias (12) " + shared,
		layers.Torch: "out_proj.weight (12, 12) out_proj.bias (12) in_proj_weight (20, 12) in_proj_bias (20) " + biases + shared,
		layers.GPT2:  "c_attn.weight (12, 20) c_attn.bias (20) " + biases + "c_proj.weight (12, 12) c_proj.bias (12) " + shared,
		layers.Llama: "q_proj.weight (12, 12) q_proj.bias (12) k_proj.weight (4, 12) k_proj.bias (4) v_proj.weight (4, 12) v_proj.bias (4) " +
			biases + "o_proj.weight (12, 12) o_proj.bias (12) " + shared,
	} {
		c := all
		c.Layout = layout
		declared, err := layers.Declare(layers.NewAttention, c)
		require.NoError(t, err)
		require.Equal(t, want, strings.Join(shapes(declared), " "))
		p := layers.NewParams(tensor.Float32, 1)
		_, err = layers.NewAttention(p.Scope(""), c)
		require.NoError(t, err)
		require.Equal(t, shapes(declared), shapes(p))
		require.Equal(t, p.Count(), declared.Count())
	}
}

// inputs makes a call of nodes with shapes; a nil shape is no node.
func inputs(t *testing.T, b *layers.Build, query, key, value []int) layers.AttentionInput {
	node := func(name string, shape []int) *G.Node {
		if shape == nil {
			return nil
		}
		return input(t, b, name, numbers(b.Params().Dtype(), shape...))
	}
	return layers.AttentionInput{Query: node("query", query), Key: node("key", key), Value: node("value", value)}
}

func newAttention(t testing.TB, dt tensor.Dtype, c layers.AttentionConfig) (*layers.Params, *layers.Attention) {
	t.Helper()
	p := layers.NewParams(dt, 1)
	l, err := layers.NewAttention(p.Scope(""), c)
	require.NoError(t, err)
	return p, l
}

// What an Attention takes, what it gives, and what it says of the rest. Queries are
// 5, keys 7 and values 2 wide, of which 11 come out.
func TestShapesOfAttention(t *testing.T) {
	wide := layers.AttentionConfig{EmbedDim: 5, KDim: 7, VDim: 2, OutDim: 11, NumHeads: 6, NumKVHeads: 2, HeadDim: 4, ValueDim: 3}
	same := layers.AttentionConfig{EmbedDim: 5, OutDim: 11, NumHeads: 6, NumKVHeads: 2, HeadDim: 4, ValueDim: 3}
	extra := but(same, func(c *layers.AttentionConfig) { c.AddBiasKV, c.AddZeroAttn = true, true })
	for _, c := range []struct {
		config            layers.AttentionConfig
		query, key, value []int
		out, weights      string
		says              string
	}{
		{wide, []int{13, 5}, []int{17, 7}, []int{17, 2}, "(13, 11)", "(6, 13, 17)", ""},
		{wide, []int{2, 13, 5}, []int{2, 17, 7}, []int{2, 17, 2}, "(2, 13, 11)", "(2, 6, 13, 17)", ""},
		{wide, []int{2, 1, 5}, []int{2, 1, 7}, []int{2, 1, 2}, "(2, 1, 11)", "(2, 6, 1, 1)", ""},
		{same, []int{13, 5}, nil, nil, "(13, 11)", "(6, 13, 13)", ""},
		{same, []int{2, 13, 5}, nil, nil, "(2, 13, 11)", "(2, 6, 13, 13)", ""},
		{same, []int{2, 13, 5}, []int{2, 17, 5}, nil, "(2, 13, 11)", "(2, 6, 13, 17)", ""},
		{same, []int{2, 13, 5}, nil, []int{2, 13, 5}, "(2, 13, 11)", "(2, 6, 13, 13)", ""},
		{extra, []int{2, 13, 5}, []int{2, 17, 5}, nil, "(2, 13, 11)", "(2, 6, 13, 19)", ""},
		{wide, nil, []int{17, 7}, []int{17, 2}, "", "", "query: got nil, want a node"},
		{wide, []int{13, 7}, []int{17, 7}, []int{17, 2}, "", "", "query: shape (13, 7), want ([B,] T, 5)"},
		{wide, []int{13, 5}, nil, []int{17, 2}, "", "", "key: shape (13, 5), want ([B,] S, 7)"},
		{wide, []int{13, 5}, []int{17, 7}, nil, "", "", "value: shape (17, 7), want ([B,] S, 2)"},
		{wide, []int{13, 5}, []int{17, 7}, []int{13, 2}, "", "", "value: shape (13, 2), want as many rows as the key, which is (17, 7)"},
		{wide, []int{2, 13, 5}, []int{3, 17, 7}, []int{3, 17, 2}, "", "", "key: shape (3, 17, 7), want the batch of the query, which is (2, 13, 5)"},
		{wide, []int{13, 5}, []int{1, 17, 7}, []int{1, 17, 2}, "", "", "key: shape (1, 17, 7), want the batch of the query, which is (13, 5)"},
		{wide, []int{2, 3, 13, 5}, []int{17, 7}, []int{17, 2}, "", "", "query: shape (2, 3, 13, 5), want ([B,] T, 5)"},
	} {
		p, l := newAttention(t, tensor.Float32, c.config)
		b := layers.NewBuild(p, layers.Eval)
		out, err := l.Attend(b, inputs(t, b, c.query, c.key, c.value))
		if c.says != "" {
			require.EqualError(t, err, "layers: Attention: "+c.says)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.out, fmt.Sprint(out.Shape()))
		b = layers.NewBuild(p, layers.Eval)
		out, weights, err := attendObserved(b, l, inputs(t, b, c.query, c.key, c.value))
		require.NoError(t, err)
		require.Equal(t, c.out+" "+c.weights, fmt.Sprint(out.Shape(), weights.Shape()))
		values(t, out)
	}
	p, l := newAttention(t, tensor.Float32, same)
	b := layers.NewBuild(p, layers.Eval)
	_, err := l.Attend(b, layers.AttentionInput{Query: input(t, b, "x", numbers(tensor.Float64, 13, 5))})
	require.EqualError(t, err, "layers: Attention: query: got float64, want float32 as the parameters")
}

// What comes with the sequences is checked where it is used, by name.
func TestWrongBiasesMasksAndPositions(t *testing.T) {
	config := but(plainAttention, func(c *layers.AttentionConfig) { c.RoPE = &graph.RoPEConfig{} })
	for says, change := range map[string]func(b *layers.Build, in *layers.AttentionInput){
		"graph: FusedAttention: bias: shape (7, 13), want one that broadcasts to (2, 3, 13, 13)": func(b *layers.Build, in *layers.AttentionInput) {
			in.Bias = input(t, b, "bias", numbers(tensor.Float32, 7, 13))
		},
		"graph: FusedAttention: bias: got float64, want float32 as the arguments before it": func(b *layers.Build, in *layers.AttentionInput) {
			in.Bias = input(t, b, "bias", numbers(tensor.Float64, 13, 13))
		},
		"graph: FusedAttention: lengths: shape (3), want (B) = (2)": func(b *layers.Build, in *layers.AttentionInput) {
			in.Mask = mask.KeyLengths{Lengths: input(t, b, "lengths", tensor.New(tensor.WithBacking([]int{1, 2, 3})))}
		},
		"graph: FusedAttention: mask: got T=13 and S=7, want T = S or an alignment, upper_left or lower_right": func(b *layers.Build, in *layers.AttentionInput) {
			in.Key, in.Positions = input(t, b, "key", numbers(tensor.Float32, 2, 7, 5)), input(t, b, "at", tensor.New(tensor.WithBacking(make([]int, 13))))
			in.Mask = mask.Causal{}
		},
		"Align, for the positions of queries: got T=13 and S=7, want T = S or an alignment, upper_left or lower_right": func(b *layers.Build, in *layers.AttentionInput) {
			in.Key = input(t, b, "key", numbers(tensor.Float32, 2, 7, 5))
		},
		"graph: RoPE: positions: shape (7), want (), (13) or (2, 13)": func(b *layers.Build, in *layers.AttentionInput) {
			in.Positions = input(t, b, "at", tensor.New(tensor.WithBacking(make([]int, 7))))
		},
		"graph: RoPE: positions: got float32, want int or int64": func(b *layers.Build, in *layers.AttentionInput) {
			in.Positions = input(t, b, "at", numbers(tensor.Float32, 13))
		},
	} {
		p, l := newAttention(t, tensor.Float32, config)
		b := layers.NewBuild(p, layers.Eval)
		in := inputs(t, b, []int{2, 13, 5}, nil, nil)
		change(b, &in)
		_, err := l.Attend(b, in)
		require.EqualError(t, err, "layers: Attention: "+says)
	}
}
