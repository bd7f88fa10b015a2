package layers_test

import (
	"fmt"
	"strings"
	"testing"

	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// plainAttention has three heads of width 4 over tokens of width 5.
var plainAttention = layers.AttentionConfig{EmbedDim: 5, NumHeads: 3, HeadDim: 4}

// A config declares the names and shapes of the parameters that the layer has, and the default sizes are the documented
// ones.
func TestParametersOfAnAttention(t *testing.T) {
	all := layers.AttentionConfig{EmbedDim: 12, NumHeads: 6, NumKVHeads: 2, QKVBias: true, OutBias: true, AddBiasKV: true,
		QKNorm: layers.RMSNorm, Sinks: true, Gate: true, RelativeBias: &layers.RelativeBiasConfig{}}
	shared := "q_norm.weight (2) k_norm.weight (2) sinks (6) gate_proj.weight (12, 12) " +
		"relative_attention_bias.weight (32, 6)"
	biases := "bias_k (1, 1, 4) bias_v (1, 1, 4) "
	for layout, want := range map[layers.Layout]string{
		"": "W_query.weight (12, 12) W_query.bias (12) W_key.weight (4, 12) W_key.bias (4) " +
			"W_value.weight (4, 12) W_value.bias (4) " + biases + "out_proj.weight (12, 12) out_proj.bias (12) " + shared,
		layers.Torch: "out_proj.weight (12, 12) out_proj.bias (12) in_proj_weight (20, 12) in_proj_bias (20) " +
			biases + shared,
		layers.GPT2: "c_attn.weight (12, 20) c_attn.bias (20) " + biases +
			"c_proj.weight (12, 12) c_proj.bias (12) " + shared,
		layers.Llama: "q_proj.weight (12, 12) q_proj.bias (12) k_proj.weight (4, 12) k_proj.bias (4) " +
			"v_proj.weight (4, 12) v_proj.bias (4) " + biases + "o_proj.weight (12, 12) o_proj.bias (12) " + shared,
	} {
		c := all
		c.Layout = layout
		declared := must(layers.Declare(layers.NewAttention, c))
		require.Equal(t, want, strings.Join(shapes(declared), " "))
		p := layers.NewParams(tensor.Float32, 1)
		must(layers.NewAttention(p.Scope(""), c))
		require.Equal(t, shapes(declared), shapes(p))
		require.Equal(t, p.Count(), declared.Count())
	}
}

// inputs makes the nodes of a call with the given shapes; a nil shape means no node.
func inputs(t *testing.T, b *layers.Build, query, key, value []int) layers.AttentionInput {
	node := func(name string, shape []int) *G.Node {
		if shape == nil {
			return nil
		}
		return input(t, b, name, golden.Numbers(b.Params().Dtype(), shape...))
	}
	return layers.AttentionInput{Query: node("query", query), Key: node("key", key), Value: node("value", value)}
}

func newAttention(t testing.TB, dt tensor.Dtype, c layers.AttentionConfig) (*layers.Params, *layers.Attention) {
	t.Helper()
	p := layers.NewParams(dt, 1)
	return p, must(layers.NewAttention(p.Scope(""), c))
}

// The input and output shapes of an Attention, and its errors for others. Queries have width 5, keys 7, values 2 and
// outputs 11.
func TestShapesOfAttention(t *testing.T) {
	type s = []int
	same := layers.AttentionConfig{EmbedDim: 5, OutDim: 11, NumHeads: 6, NumKVHeads: 2, HeadDim: 4, ValueDim: 3}
	wide, extra := with(same, `{"kdim": 7, "vdim": 2}`), with(same, `{"add_bias_kv": true, "add_zero_attn": true}`)
	short := with(plainAttention, `{"context_length": 7}`)
	for _, c := range []struct {
		config            layers.AttentionConfig
		query, key, value s
		want              string // shapes of the output and the weights, or the error
	}{
		{wide, s{13, 5}, s{17, 7}, s{17, 2}, "(13, 11) (6, 13, 17)"},
		{wide, s{2, 13, 5}, s{2, 17, 7}, s{2, 17, 2}, "(2, 13, 11) (2, 6, 13, 17)"},
		{wide, s{2, 1, 5}, s{2, 1, 7}, s{2, 1, 2}, "(2, 1, 11) (2, 6, 1, 1)"},
		{same, s{13, 5}, nil, nil, "(13, 11) (6, 13, 13)"},
		{same, s{2, 13, 5}, s{2, 17, 5}, nil, "(2, 13, 11) (2, 6, 13, 17)"},
		{same, s{2, 13, 5}, nil, s{2, 13, 5}, "(2, 13, 11) (2, 6, 13, 13)"},
		{extra, s{2, 13, 5}, s{2, 17, 5}, nil, "(2, 13, 11) (2, 6, 13, 19)"},
		{wide, nil, s{17, 7}, s{17, 2}, "query: got nil, want a node"},
		{wide, s{13, 7}, s{17, 7}, s{17, 2}, "query: shape (13, 7), want ([B,] T, 5)"},
		{wide, s{13, 5}, nil, s{17, 2}, "key: shape (13, 5), want ([B,] S, 7)"},
		{wide, s{13, 5}, s{17, 7}, nil, "value: shape (17, 7), want ([B,] S, 2)"},
		{wide, s{13, 5}, s{17, 7}, s{13, 2}, "value: shape (13, 2), want as many rows as the key, which is (17, 7)"},
		{wide, s{2, 13, 5}, s{3, 17, 7}, s{3, 17, 2},
			"key: shape (3, 17, 7), want the batch of the query, which is (2, 13, 5)"},
		{wide, s{13, 5}, s{1, 17, 7}, s{1, 17, 2}, "key: shape (1, 17, 7), want the batch of the query, which is (13, 5)"},
		{wide, s{2, 3, 13, 5}, s{17, 7}, s{17, 2}, "query: shape (2, 3, 13, 5), want ([B,] T, 5)"},
		{short, s{7, 5}, s{2, 5}, nil, "(7, 5) (3, 7, 2)"},
		{short, s{8, 5}, nil, nil, "query: shape (8, 5), want ([B,] T <= ContextLength=7, 5)"},
		{short, s{2, 5}, s{8, 5}, nil, "key: shape (8, 5), want ([B,] S <= ContextLength=7, 5)"},
	} {
		p, l := newAttention(t, tensor.Float32, c.config)
		b := layers.NewBuild(p, layers.Eval)
		out, weights, err := attendObserved(b, l, inputs(t, b, c.query, c.key, c.value))
		if c.want[0] != '(' {
			require.EqualError(t, err, "layers: Attention: "+c.want)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, fmt.Sprint(out.Shape(), weights.Shape()))
		values(t, out)
	}
	p, l := newAttention(t, tensor.Float32, same)
	b := layers.NewBuild(p, layers.Eval)
	_, err := l.Attend(b, layers.AttentionInput{Query: input(t, b, "x", golden.Numbers(tensor.Float64, 13, 5))})
	require.EqualError(t, err, "layers: Attention: query: got float64, want float32 as the parameters")
}

// attended runs a layer in both forms, which must agree, and returns the output and the weights.
func attended(t *testing.T, p *layers.Params, l *layers.Attention,
	call func(b *layers.Build) layers.AttentionInput,
) (out, weights []float64) {
	t.Helper()
	b := layers.NewBuild(p, layers.Eval)
	o := must(l.Attend(b, call(b)))
	fused := values(t, o)[0]
	b = layers.NewBuild(p, layers.Eval)
	o, w, err := attendObserved(b, l, call(b))
	require.NoError(t, err)
	both := values(t, o, w)
	require.InDeltaSlice(t, both[0], fused, 1e-13)
	return both[0], both[1]
}

// selfCall calls an Attention with x alone, crossCall with keys as well.
func selfCall(t *testing.T, x *tensor.Dense) func(b *layers.Build) layers.AttentionInput {
	return func(b *layers.Build) layers.AttentionInput {
		return layers.AttentionInput{Query: input(t, b, "x", x)}
	}
}

func crossCall(t *testing.T, x, key *tensor.Dense) func(b *layers.Build) layers.AttentionInput {
	return func(b *layers.Build) layers.AttentionInput {
		return layers.AttentionInput{Query: input(t, b, "x", x), Key: input(t, b, "key", key)}
	}
}
