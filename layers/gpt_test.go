package layers_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"attention/internal/golden"
	"attention/internal/refusal"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// newGPT makes the model of a config, and its parameters.
func newGPT(t testing.TB, dt tensor.Dtype, c layers.GPTConfig) (*layers.Decoder, *layers.Params) {
	t.Helper()
	p := layers.NewParams(dt, 3)
	m := must(layers.NewGPT(p.Scope(""), c))
	require.Equal(t, c.Decoder(), m.Config())
	return m, p
}

// shapes are the names and shapes of all parameters, in order.
func shapes(p *layers.Params) (list []string) {
	for name, shape := range p.Shapes() {
		list = append(list, fmt.Sprint(name, " ", shape))
	}
	return list
}

// The names and shapes are those of Hugging Face's model, in its order.
func TestGPTParameters(t *testing.T) {
	c := layers.GPTConfig{VocabSize: 13, ContextLength: 11, EmbedDim: 6, NumLayers: 1, NumHeads: 3, NumKVHeads: 1,
		DimFeedforward: 7, Activation: "gelu_new", Bias: true}
	_, p := newGPT(t, tensor.Float32, c)
	all := []string{
		"transformer.wte.weight (13, 6)", "transformer.wpe.weight (11, 6)",
		"transformer.h.0.ln_1.weight (6)", "transformer.h.0.ln_1.bias (6)",
		"transformer.h.0.attn.c_attn.weight (6, 10)", "transformer.h.0.attn.c_attn.bias (10)",
		"transformer.h.0.attn.c_proj.weight (6, 6)", "transformer.h.0.attn.c_proj.bias (6)",
		"transformer.h.0.ln_2.weight (6)", "transformer.h.0.ln_2.bias (6)",
		"transformer.h.0.mlp.c_fc.weight (6, 7)", "transformer.h.0.mlp.c_fc.bias (7)",
		"transformer.h.0.mlp.c_proj.weight (7, 6)", "transformer.h.0.mlp.c_proj.bias (6)",
		"transformer.ln_f.weight (6)", "transformer.ln_f.bias (6)",
		"lm_head.weight (13, 6)",
	}
	require.Equal(t, all, shapes(p))
	c.TieWordEmbeddings, c.Bias = true, false
	_, p = newGPT(t, tensor.Float32, c)
	var weights []string
	for _, line := range all[:len(all)-1] {
		if strings.Contains(line, ".weight") {
			weights = append(weights, line)
		}
	}
	require.Equal(t, weights, shapes(p))
}

// released is the config of a released model.
func released(n, width, heads int) layers.GPTConfig {
	return layers.GPTConfig{VocabSize: 50257, ContextLength: 1024, EmbedDim: width, NumLayers: n, NumHeads: heads,
		Activation: "gelu_new", TieWordEmbeddings: true, Bias: true}
}

// The released models are as large as is known of them, and nothing of that size is
// made to find out.
func TestGPTCountOfGPT2(t *testing.T) {
	for _, c := range []struct {
		config layers.GPTConfig
		want   int
	}{
		{config: released(12, 768, 12), want: 124_439_808},
		{config: released(24, 1024, 16), want: 354_823_168},
		{config: released(36, 1280, 20), want: 774_030_080},
		{config: released(48, 1600, 25), want: 1_557_611_200},
	} {
		require.NoError(t, c.config.Validate())
		require.Equal(t, c.want, must(layers.Declare(layers.NewGPT, c.config)).Count())
	}
}

// What a config declares is what its model has.
func TestGPTDeclared(t *testing.T) {
	for i := range 16 {
		c := tinyGPT()
		c.TieWordEmbeddings, c.Bias = i&1 == 0, i&2 == 0
		if i&4 > 0 {
			c.NumKVHeads = 1
		}
		if i&8 > 0 {
			c.DimFeedforward = 5
		}
		m, p := newGPT(t, tensor.Float64, c)
		require.Same(t, p, m.Params())
		requireDeclared(t, p, layers.NewGPT, c)
		elements := 0
		for _, v := range p.All() {
			elements += v.Shape().TotalSize()
		}
		require.Equal(t, elements, p.Count())
	}
}

// Weights begin as GPT-2's: with the deviation 0.02, what is added to the residual with
// 0.02/√(2·Layers). 20 000 draws have theirs within 2 % of it, four times its error.
func TestGPTInitialValues(t *testing.T) {
	c := layers.GPTConfig{VocabSize: 211, ContextLength: 211, EmbedDim: 96, NumLayers: 8, NumHeads: 3,
		Activation: "gelu_new", Bias: true}
	_, p := newGPT(t, tensor.Float32, c)
	for name, v := range p.All() {
		x := golden.Floats(t, v)
		switch {
		case strings.Contains(name, ".bias"):
			require.Equal(t, make([]float64, len(x)), x, name)
		case strings.Contains(name, "ln_"):
			for _, gain := range x {
				require.Equal(t, 1.0, gain, name)
			}
		default:
			want := 0.02
			if strings.Contains(name, "c_proj") {
				want = 0.02 / 4
			}
			mean, square := 0.0, 0.0
			for _, w := range x {
				mean += w / float64(len(x))
				square += w * w / float64(len(x))
			}
			tol := 4 / math.Sqrt(2*float64(len(x)))
			require.InEpsilon(t, want, math.Sqrt(square), tol, name)
			require.InDelta(t, 0, mean, 4*want/math.Sqrt(float64(len(x))), name)
		}
	}
}

// Dropout is where GPT-2 has it: of the embeddings, within each attention, and of what
// each attention and MLP adds. An Eval graph has none.
func TestGPTDropout(t *testing.T) {
	for _, c := range []struct {
		set        func(c *layers.GPTConfig)
		sites, ops int // dropout within an attention is no op of its own
	}{
		{set: func(*layers.GPTConfig) {}, sites: 0, ops: 0},
		{set: func(c *layers.GPTConfig) { c.EmbeddingDropout = 0.5 }, sites: 1, ops: 1},
		{set: func(c *layers.GPTConfig) { c.AttentionDropout = 0.5 }, sites: 2, ops: 0},
		{set: func(c *layers.GPTConfig) { c.ResidualDropout = 0.5 }, sites: 4, ops: 4},
	} {
		config := tinyGPT()
		c.set(&config)
		m, p := newGPT(t, tensor.Float64, config)
		ops := func(mode layers.Mode) (b *layers.Build, n int) {
			b = layers.NewBuild(p, mode)
			must(m.Forward(b, input(t, b, "ids", intVector(1, 2, 3))))
			for _, node := range b.Graph().AllNodes() {
				if node.Op() != nil && strings.HasPrefix(node.Op().String(), "Dropout") {
					n++
				}
			}
			return b, n
		}
		b, n := ops(layers.Train)
		require.Equal(t, c.ops, n)
		require.Equal(t, c.sites > 0, b.DropoutKey() != nil)
		require.Equal(t, c.sites+1, b.Drop(0.5).Site, "the next site")
		b, n = ops(layers.Eval)
		require.Zero(t, n)
		require.Nil(t, b.DropoutKey())
	}
}

func TestGPTRefuses(t *testing.T) {
	refuses(t, "GPT", layers.NewGPT, tinyGPT(), refusal.Rows{
		{`{"vocab_size": 0}`, "VocabSize: got 0, want at least 1"},
		{`{"context_length": -1}`, "ContextLength: got -1, want at least 1"},
		{`{"embed_dim": 0}`, "EmbedDim: got 0, want at least 1"},
		{`{"num_layers": 0}`, "NumLayers: got 0, want at least 1"},
		{`{"num_heads": 0}`, "NumHeads: got 0, want at least 1"},
		{`{"activation": "tanh"}`,
			`Activation: got "tanh", want gelu_new, gelu_pytorch_tanh, gelu, relu, relu2 or silu`},
		{`{"embedding_dropout": 1}`, "EmbeddingDropout: got 1, want a number from 0 to below 1"},
		{func(c *layers.GPTConfig) { c.AttentionDropout = math.NaN() },
			"AttentionDropout: got NaN, want a number from 0 to below 1"},
		{`{"residual_dropout": -1}`, "ResidualDropout: got -1, want a number from 0 to below 1"},
		{`{"num_heads": 5}`, "NumHeads: got 5, want a divisor of EmbedDim=12"},
		{`{"num_kv_heads": 2}`, "NumKVHeads: got 2, want 0 or a divisor of NumHeads=3"},
		{`{"dim_feedforward": -1}`, "DimFeedforward: got -1, want at least 0"},
		{`{"eps": -1}`, "Eps: got -1, want a finite number of at least 0"},
		{`{"vocab_size": 2147483647}`,
			"VocabSize: got 2147483647 for EmbedDim=12, want at most 2147483647 elements in a weight"},
		{`{"context_length": 2147483647}`,
			"ContextLength: got 2147483647 for EmbedDim=12, want at most 2147483647 elements in a weight"},
		{`{"embed_dim": 9223372036854775807, "num_heads": 1}`,
			"EmbedDim: got 9223372036854775807, want at most 2147483647"},
	})
	m, p := newGPT(t, tensor.Float32, tinyGPT())
	b := layers.NewBuild(p, layers.Eval)
	for _, row := range []struct {
		wantErr string
		ids     *G.Node
	}{
		{wantErr: "ids: got nil, want a node"},
		{wantErr: "ids: shape (12), want ([B,] T <= ContextLength=11)", ids: b.InputOf(tensor.Int, "long", 12)},
		{wantErr: "ids: shape (1, 1, 2), want ([B,] T <= ContextLength=11)", ids: b.InputOf(tensor.Int, "deep", 1, 1, 2)},
		{wantErr: "ids: shape (), want ([B,] T <= ContextLength=11)", ids: b.InputOf(tensor.Int, "scalar")},
		{wantErr: "ids: got float32, want int or int64", ids: b.InputOf(tensor.Float32, "floats", 2)},
		{wantErr: "ids: got int32, want int or int64", ids: b.InputOf(tensor.Int32, "narrow", 2)},
	} {
		for _, forward := range []func(b *layers.Build, ids *G.Node) (*G.Node, error){m.Forward, m.Next} {
			require.ErrorContains(t, failed(forward(b, row.ids)), "layers: GPT: "+row.wantErr)
		}
	}
	ids := input(t, b, "ids", tensor.New(tensor.WithBacking([]int{1, 2})))
	_, err := m.Loss(b, ids, input(t, b, "targets", tensor.New(tensor.WithBacking([]int{1, 2, 3}))))
	require.ErrorContains(t, err, "CrossEntropy: targets: shape (3), want (2)")
	_, err = m.Forward(layers.NewBuild(layers.NewParams(tensor.Float32, 1), layers.Eval), ids)
	require.ErrorContains(t, err, "got a parameter of another set")
}
