package layers_test

import (
	"math"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// requireDeclared checks that a config declares the parameters that its layer has.
func requireDeclared[C, L any](t *testing.T, p *layers.Params, construct func(layers.Scope, C) (L, error), c C) {
	t.Helper()
	declared, err := layers.Declare(construct, c)
	require.NoError(t, err)
	require.Equal(t, shapes(p), shapes(declared))
	require.Equal(t, p.Count(), declared.Count())
}

// Blocks have the names that their layout's models have, and as many numbers as their
// config counts.
func TestBlockParameters(t *testing.T) {
	for layout, want := range map[layers.Layout][]string{
		"": {"ln_1.weight (6)", "ln_1.bias (6)", "attn.W_query.weight (6, 6)", "attn.W_key.weight (6, 6)", "attn.W_value.weight (6, 6)",
			"attn.out_proj.weight (6, 6)", "ln_2.weight (6)", "ln_2.bias (6)", "mlp.fc.weight (5, 6)", "mlp.proj.weight (6, 5)"},
		layers.Torch: {"norm1.weight (6)", "norm1.bias (6)", "self_attn.out_proj.weight (6, 6)", "self_attn.in_proj_weight (18, 6)",
			"norm2.weight (6)", "norm2.bias (6)", "linear1.weight (5, 6)", "linear2.weight (6, 5)"},
		layers.GPT2: {"ln_1.weight (6)", "ln_1.bias (6)", "attn.c_attn.weight (6, 18)", "attn.c_proj.weight (6, 6)",
			"ln_2.weight (6)", "ln_2.bias (6)", "mlp.c_fc.weight (6, 5)", "mlp.c_proj.weight (5, 6)"},
		layers.Llama: {"input_layernorm.weight (6)", "input_layernorm.bias (6)", "self_attn.q_proj.weight (6, 6)", "self_attn.k_proj.weight (6, 6)",
			"self_attn.v_proj.weight (6, 6)", "self_attn.o_proj.weight (6, 6)", "post_attention_layernorm.weight (6)",
			"post_attention_layernorm.bias (6)", "mlp.up_proj.weight (5, 6)", "mlp.down_proj.weight (6, 5)"},
	} {
		c := layers.BlockConfig{Attention: layers.AttentionConfig{EmbedDim: 6, NumHeads: 2, Layout: layout},
			MLP: layers.MLPConfig{DimFeedforward: 5}, Norm: layers.NormConfig{Bias: true}}
		p := layers.NewParams(tensor.Float32, 1)
		_, err := layers.NewBlock(p.Scope(""), c)
		require.NoError(t, err)
		require.Equal(t, want, shapes(p))
		requireDeclared(t, p, layers.NewBlock, c)
	}
}

func TestMLPParameters(t *testing.T) {
	for layout, want := range map[layers.Layout][]string{
		"": {"gate.weight (12, 3)", "gate.bias (12)", "fc.weight (12, 3)", "fc.bias (12)", "proj.weight (3, 12)", "proj.bias (3)"},
		layers.Torch: {"linear_gate.weight (12, 3)", "linear_gate.bias (12)", "linear1.weight (12, 3)", "linear1.bias (12)",
			"linear2.weight (3, 12)", "linear2.bias (3)"},
		layers.GPT2: {"c_gate.weight (3, 12)", "c_gate.bias (12)", "c_fc.weight (3, 12)", "c_fc.bias (12)", "c_proj.weight (12, 3)", "c_proj.bias (3)"},
		layers.Llama: {"gate_proj.weight (12, 3)", "gate_proj.bias (12)", "up_proj.weight (12, 3)", "up_proj.bias (12)",
			"down_proj.weight (3, 12)", "down_proj.bias (3)"},
	} {
		c := layers.MLPConfig{EmbedDim: 3, Activation: layers.SwiGLU, Bias: true, Layout: layout}
		p := layers.NewParams(tensor.Float32, 1)
		_, err := layers.NewMLP(p.Scope(""), c)
		require.NoError(t, err)
		require.Equal(t, want, shapes(p))
		requireDeclared(t, p, layers.NewMLP, c)
	}
}

func TestDecoderBlockParameters(t *testing.T) {
	for layout, want := range map[layers.Layout][]string{
		"": {"attn.W_query.weight (6, 6)", "attn.W_key.weight (6, 6)", "attn.W_value.weight (6, 6)", "attn.out_proj.weight (6, 6)",
			"cross_attn.W_query.weight (6, 6)", "cross_attn.W_key.weight (6, 6)", "cross_attn.W_value.weight (6, 6)", "cross_attn.out_proj.weight (6, 6)",
			"mlp.fc.weight (5, 6)", "mlp.proj.weight (6, 5)", "ln_1.weight (6)", "ln_cross_attn.weight (6)", "ln_2.weight (6)"},
		layers.GPT2: {"attn.c_attn.weight (6, 18)", "attn.c_proj.weight (6, 6)", "crossattention.c_attn.weight (6, 18)",
			"crossattention.c_proj.weight (6, 6)", "mlp.c_fc.weight (6, 5)", "mlp.c_proj.weight (5, 6)",
			"ln_1.weight (6)", "ln_cross_attn.weight (6)", "ln_2.weight (6)"},
		layers.Llama: {"self_attn.q_proj.weight (6, 6)", "self_attn.k_proj.weight (6, 6)", "self_attn.v_proj.weight (6, 6)",
			"self_attn.o_proj.weight (6, 6)", "cross_attn.q_proj.weight (6, 6)", "cross_attn.k_proj.weight (6, 6)",
			"cross_attn.v_proj.weight (6, 6)", "cross_attn.o_proj.weight (6, 6)", "mlp.up_proj.weight (5, 6)", "mlp.down_proj.weight (6, 5)",
			"input_layernorm.weight (6)", "cross_attn_layernorm.weight (6)", "post_attention_layernorm.weight (6)"},
	} {
		c := layers.DecoderBlockConfig{Block: layers.BlockConfig{Attention: layers.AttentionConfig{EmbedDim: 6, NumHeads: 2, Layout: layout, RoPE: &graph.RoPEConfig{Dims: 2}},
			MLP: layers.MLPConfig{DimFeedforward: 5}}}
		p := layers.NewParams(tensor.Float32, 1)
		_, err := layers.NewDecoderBlock(p.Scope(""), c)
		require.NoError(t, err)
		require.Equal(t, want, shapes(p))
		requireDeclared(t, p, layers.NewDecoderBlock, c)
	}
}

// A memory may be of a width of its own.
func TestDecoderBlockOfAnotherMemory(t *testing.T) {
	c := layers.DecoderBlockConfig{
		Block: layers.BlockConfig{Attention: layers.AttentionConfig{EmbedDim: 6, NumHeads: 2, Mask: mask.Causal{}}},
		Cross: layers.AttentionConfig{EmbedDim: 6, KDim: 5, VDim: 5, NumHeads: 3},
	}
	p := layers.NewParams(tensor.Float64, 1)
	l, err := layers.NewDecoderBlock(p.Scope(""), c)
	require.NoError(t, err)
	requireDeclared(t, p, layers.NewDecoderBlock, c)
	b := layers.NewBuild(p, layers.Eval)
	out, err := l.Forward(b, layers.DecoderInput{X: input(t, b, "x", numbers(tensor.Float64, 2, 3, 6)), Memory: input(t, b, "memory", numbers(tensor.Float64, 2, 7, 5))})
	require.NoError(t, err)
	require.Equal(t, tensor.Shape{2, 3, 6}, out.Shape())
	values(t, out)
}

// A mask of the call hides what the same mask of the config hides.
func TestDecoderBlockMask(t *testing.T) {
	x, memory := numbers(tensor.Float64, 2, 5, 12), numbers(tensor.Float64, 2, 3, 12)
	run := func(config, call mask.Mask) []float64 {
		block := gptBlock()
		block.Attention.Mask = config
		p := layers.NewParams(tensor.Float64, 1)
		l, err := layers.NewDecoderBlock(p.Scope(""), layers.DecoderBlockConfig{Block: block})
		require.NoError(t, err)
		b := layers.NewBuild(p, layers.Eval)
		out, err := l.Forward(b, layers.DecoderInput{X: input(t, b, "x", x), Memory: input(t, b, "memory", memory), Mask: call})
		require.NoError(t, err)
		return values(t, out)[0]
	}
	causal := run(mask.Causal{}, nil)
	require.Equal(t, causal, run(nil, mask.Causal{}))
	require.NotEqual(t, causal, run(nil, nil))
}

// Eps of 0 is torch's for each kind of norm, and gains begin with 1, biases with 0.
func TestNormDefaults(t *testing.T) {
	x := dense(tensor.Float64, []float64{1e-3, 2e-3, 6e-3}, 1, 3)
	variance, square := (4.0+1+9)/3*1e-6, (1.0+4+36)/3*1e-6
	for _, c := range []struct {
		config layers.NormConfig
		want   []float64
	}{
		{layers.NormConfig{EmbedDim: 3, Bias: true}, []float64{-2e-3 / math.Sqrt(variance+1e-5), -1e-3 / math.Sqrt(variance+1e-5), 3e-3 / math.Sqrt(variance+1e-5)}},
		{layers.NormConfig{EmbedDim: 3, Kind: layers.RMSNorm}, []float64{1e-3 / math.Sqrt(square+1e-6), 2e-3 / math.Sqrt(square+1e-6), 6e-3 / math.Sqrt(square+1e-6)}},
		{layers.NormConfig{EmbedDim: 3, Kind: layers.RMSNorm, Eps: 1}, []float64{1e-3 / math.Sqrt(square+1), 2e-3 / math.Sqrt(square+1), 6e-3 / math.Sqrt(square+1)}},
	} {
		p := layers.NewParams(tensor.Float64, 1)
		l, err := layers.NewNorm(p.Scope(""), c.config)
		require.NoError(t, err)
		requireDeclared(t, p, layers.NewNorm, c.config)
		b := layers.NewBuild(p, layers.Eval)
		out, err := l.Forward(b, input(t, b, "x", x))
		require.NoError(t, err)
		require.InDeltaSlice(t, c.want, values(t, out)[0], 1e-12)
	}
}

func TestBlockConfigsAreRefused(t *testing.T) {
	block := func(change func(c *layers.BlockConfig)) layers.BlockConfig {
		c := gptBlock()
		change(&c)
		return c
	}
	cross := func(c layers.AttentionConfig) layers.DecoderBlockConfig {
		return layers.DecoderBlockConfig{Block: gptBlock(), Cross: c}
	}
	for says, c := range map[string]interface{ Validate() error }{
		"Norm: EmbedDim: got 0, want at least 1":                               layers.NormConfig{},
		"Norm: EmbedDim: got 9223372036854775807, want at most":                layers.NormConfig{EmbedDim: math.MaxInt},
		"Norm: Kind: got \"batch\", want one of layer, rms":                    layers.NormConfig{EmbedDim: 3, Kind: "batch"},
		"Norm: Bias: got true with Kind \"rms\", want false":                   layers.NormConfig{EmbedDim: 3, Kind: layers.RMSNorm, Bias: true},
		"Norm: Eps: got NaN, want a finite number of at least 0":               layers.NormConfig{EmbedDim: 3, Eps: math.NaN()},
		"Norm: Eps: got +Inf, want a finite number of at least 0":              layers.NormConfig{EmbedDim: 3, Eps: math.Inf(1)},
		"MLP: EmbedDim: got 0, want at least 1":                                layers.MLPConfig{},
		"MLP: DimFeedforward: got -1, want at least 0":                         layers.MLPConfig{EmbedDim: 3, DimFeedforward: -1},
		"MLP: DimFeedforward: got 9223372036854775807 for EmbedDim=3, want at": layers.MLPConfig{EmbedDim: 3, DimFeedforward: math.MaxInt},
		"MLP: EmbedDim: got 9223372036854775807, want at most":                 layers.MLPConfig{EmbedDim: math.MaxInt},
		"MLP: Activation: got \"elu\", want one of gelu, gelu_tanh":            layers.MLPConfig{EmbedDim: 3, Activation: "elu"},
		"MLP: Layout: got \"x\", want one of book, torch, gpt2":                layers.MLPConfig{EmbedDim: 3, Layout: "x"},
		"MLP: Dropout: got 1, want a number from 0 to below 1":                 layers.MLPConfig{EmbedDim: 3, Dropout: 1},
		"MLP: HiddenDropout: got -1, want a number from 0 to below 1":          layers.MLPConfig{EmbedDim: 3, HiddenDropout: -1},
		"MLP: OutStd: got -1, want a finite number of at least 0":              layers.MLPConfig{EmbedDim: 3, OutStd: -1},
		"Block: Attention.NumHeads: got 0, want at least 1":                    layers.BlockConfig{Attention: layers.AttentionConfig{EmbedDim: 3}},
		"Block: Attention.OutStd: got -1, want a finite number":                block(func(c *layers.BlockConfig) { c.Attention.OutStd = -1 }),
		"Block: Attention.Layout: got \"x\", want one of book, torch":          block(func(c *layers.BlockConfig) { c.Attention.Layout = "x" }),
		"Block: Attention.OutDim: got 6, want EmbedDim=12":                     block(func(c *layers.BlockConfig) { c.Attention.OutDim = 6 }),
		"Block: MLP.EmbedDim: got 6, want Attention.EmbedDim=12":               block(func(c *layers.BlockConfig) { c.MLP.EmbedDim = 6 }),
		"Block: Norm.EmbedDim: got 6, want Attention.EmbedDim=12":              block(func(c *layers.BlockConfig) { c.Norm.EmbedDim = 6 }),
		"DecoderBlock: Cross.EmbedDim: got 6, want Block.Attention":            cross(layers.AttentionConfig{EmbedDim: 6, NumHeads: 2}),
		"DecoderBlock: Cross.OutDim: got 6, want Block.Attention":              cross(layers.AttentionConfig{EmbedDim: 12, OutDim: 6, NumHeads: 2}),
		"DecoderBlock: Cross.NumHeads: got 5":                                  cross(layers.AttentionConfig{EmbedDim: 12, NumHeads: 5}),
	} {
		require.ErrorContains(t, c.Validate(), "layers: "+says)
		p := layers.NewParams(tensor.Float32, 1)
		var err error
		switch c := c.(type) {
		case layers.NormConfig:
			_, err = layers.NewNorm(p.Scope(""), c)
		case layers.MLPConfig:
			_, err = layers.NewMLP(p.Scope(""), c)
		case layers.BlockConfig:
			_, err = layers.NewBlock(p.Scope(""), c)
		case layers.DecoderBlockConfig:
			_, err = layers.NewDecoderBlock(p.Scope(""), c)
		}
		require.ErrorContains(t, err, says)
		require.Zero(t, p.Len(), "nothing is left behind")
	}
}

func TestBlockInputsAreRefused(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	norm, err := layers.NewNorm(p.Scope("norm"), layers.NormConfig{EmbedDim: 12})
	require.NoError(t, err)
	mlp, err := layers.NewMLP(p.Scope("mlp"), layers.MLPConfig{EmbedDim: 12})
	require.NoError(t, err)
	pre, err := layers.NewBlock(p.Scope("pre"), gptBlock())
	require.NoError(t, err)
	post, err := layers.NewBlock(p.Scope("post"), postNorm(gptBlock)())
	require.NoError(t, err)
	decoder, err := layers.NewDecoderBlock(p.Scope("decoder"), layers.DecoderBlockConfig{Block: gptBlock()})
	require.NoError(t, err)

	b := layers.NewBuild(p, layers.Eval)
	good := input(t, b, "good", numbers(tensor.Float32, 2, 3, 12))
	for says, x := range map[string]*G.Node{
		"got nil, want a node":                        nil,
		"shape (2, 3, 5), want ([B,] ":                input(t, b, "thin", numbers(tensor.Float32, 2, 3, 5)),
		"shape (12), want ([B,] ":                     input(t, b, "row", numbers(tensor.Float32, 12)),
		"got float64, want float32 as the parameters": input(t, b, "wide", numbers(tensor.Float64, 3, 12)),
		"shape (2, 3, 1, 12), want ([B,] ":            input(t, b, "deep", numbers(tensor.Float32, 2, 3, 1, 12)),
	} {
		for _, forward := range []func() (*G.Node, error){
			func() (*G.Node, error) { return norm.Forward(b, x) },
			func() (*G.Node, error) { return mlp.Forward(b, x) },
			func() (*G.Node, error) { return pre.Forward(b, layers.AttentionInput{Query: x}) },
			func() (*G.Node, error) { return post.Forward(b, layers.AttentionInput{Query: x}) },
			func() (*G.Node, error) { return decoder.Forward(b, layers.DecoderInput{X: x, Memory: good}) },
			func() (*G.Node, error) { return decoder.Forward(b, layers.DecoderInput{X: good, Memory: x}) },
		} {
			out, err := forward()
			require.ErrorContains(t, err, says)
			require.ErrorContains(t, err, "layers: ")
			require.Nil(t, out)
		}
	}
	for _, in := range []layers.AttentionInput{{Query: good, Key: good}, {Query: good, Value: good}} {
		_, err = pre.Forward(b, in)
		require.ErrorContains(t, err, "layers: pre: Block: key: got another sequence than the query, want nil")
	}
}
