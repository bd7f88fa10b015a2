package layers_test

import (
	"math"
	"testing"

	"attention/internal/golden"
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
		"": {"ln_1.weight (6)", "ln_1.bias (6)", "attn.W_query.weight (6, 6)", "attn.W_key.weight (6, 6)",
			"attn.W_value.weight (6, 6)", "attn.out_proj.weight (6, 6)",
			"ln_2.weight (6)", "ln_2.bias (6)", "mlp.fc.weight (5, 6)", "mlp.proj.weight (6, 5)"},
		layers.Torch: {"norm1.weight (6)", "norm1.bias (6)", "self_attn.out_proj.weight (6, 6)",
			"self_attn.in_proj_weight (18, 6)", "norm2.weight (6)", "norm2.bias (6)", "linear1.weight (5, 6)",
			"linear2.weight (6, 5)"},
		layers.GPT2: {"ln_1.weight (6)", "ln_1.bias (6)", "attn.c_attn.weight (6, 18)", "attn.c_proj.weight (6, 6)",
			"ln_2.weight (6)", "ln_2.bias (6)", "mlp.c_fc.weight (6, 5)", "mlp.c_proj.weight (5, 6)"},
		layers.Llama: {"input_layernorm.weight (6)", "input_layernorm.bias (6)", "self_attn.q_proj.weight (6, 6)",
			"self_attn.k_proj.weight (6, 6)", "self_attn.v_proj.weight (6, 6)", "self_attn.o_proj.weight (6, 6)",
			"post_attention_layernorm.weight (6)",
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

func TestBlockConfigsAreRefused(t *testing.T) {
	block := func(change func(c *layers.BlockConfig)) layers.BlockConfig {
		c := gptBlock()
		change(&c)
		return c
	}
	cross := func(c layers.AttentionConfig) layers.DecoderBlockConfig {
		return layers.DecoderBlockConfig{Block: gptBlock(), Cross: c}
	}
	for _, row := range []struct {
		wantErr string
		config  any
	}{
		{wantErr: "Norm: EmbedDim: got 0, want at least 1", config: layers.NormConfig{}},
		{wantErr: "Norm: EmbedDim: got 9223372036854775807, want at most",
			config: layers.NormConfig{EmbedDim: math.MaxInt}},
		{wantErr: "Norm: Kind: got \"batch\", want one of layer, rms",
			config: layers.NormConfig{EmbedDim: 3, Kind: "batch"}},
		{wantErr: "Norm: Bias: got true with Kind \"rms\", want false",
			config: layers.NormConfig{EmbedDim: 3, Kind: layers.RMSNorm, Bias: true}},
		{wantErr: "Norm: UnitOffset: got true with Kind \"layer\", want false",
			config: layers.NormConfig{EmbedDim: 3, UnitOffset: true}},
		{wantErr: "Norm: Eps: got NaN, want a finite number of at least 0",
			config: layers.NormConfig{EmbedDim: 3, Eps: math.NaN()}},
		{wantErr: "Norm: Eps: got +Inf, want a finite number of at least 0",
			config: layers.NormConfig{EmbedDim: 3, Eps: math.Inf(1)}},
		{wantErr: "MLP: EmbedDim: got 0, want at least 1", config: layers.MLPConfig{}},
		{wantErr: "MLP: DimFeedforward: got -1, want at least 0",
			config: layers.MLPConfig{EmbedDim: 3, DimFeedforward: -1}},
		{wantErr: "MLP: DimFeedforward: got 9223372036854775807 for EmbedDim=3, want at",
			config: layers.MLPConfig{EmbedDim: 3, DimFeedforward: math.MaxInt}},
		{wantErr: "MLP: EmbedDim: got 9223372036854775807, want at most",
			config: layers.MLPConfig{EmbedDim: math.MaxInt}},
		{wantErr: "MLP: Activation: got \"elu\", want one of gelu, gelu_tanh",
			config: layers.MLPConfig{EmbedDim: 3, Activation: "elu"}},
		{wantErr: "MLP: Layout: got \"x\", want one of book, torch, gpt2",
			config: layers.MLPConfig{EmbedDim: 3, Layout: "x"}},
		{wantErr: "MLP: Dropout: got 1, want a number from 0 to below 1",
			config: layers.MLPConfig{EmbedDim: 3, Dropout: 1}},
		{wantErr: "MLP: HiddenDropout: got -1, want a number from 0 to below 1",
			config: layers.MLPConfig{EmbedDim: 3, HiddenDropout: -1}},
		{wantErr: "MLP: OutStd: got -1, want a finite number of at least 0",
			config: layers.MLPConfig{EmbedDim: 3, OutStd: -1}},
		{wantErr: "Block: Attention.NumHeads: got 0, want at least 1",
			config: layers.BlockConfig{Attention: layers.AttentionConfig{EmbedDim: 3}}},
		{wantErr: "Block: Attention.OutStd: got -1, want a finite number",
			config: block(func(c *layers.BlockConfig) { c.Attention.OutStd = -1 })},
		{wantErr: "Block: Attention.Layout: got \"x\", want one of book, torch",
			config: block(func(c *layers.BlockConfig) { c.Attention.Layout = "x" })},
		{wantErr: "Block: Attention.OutDim: got 6, want EmbedDim=12",
			config: block(func(c *layers.BlockConfig) { c.Attention.OutDim = 6 })},
		{wantErr: "Block: MLP.EmbedDim: got 6, want Attention.EmbedDim=12",
			config: block(func(c *layers.BlockConfig) { c.MLP.EmbedDim = 6 })},
		{wantErr: "Block: Norm.EmbedDim: got 6, want Attention.EmbedDim=12",
			config: block(func(c *layers.BlockConfig) { c.Norm.EmbedDim = 6 })},
		{wantErr: "DecoderBlock: Cross.EmbedDim: got 6, want Block.Attention",
			config: cross(layers.AttentionConfig{EmbedDim: 6, NumHeads: 2})},
		{wantErr: "DecoderBlock: Cross.OutDim: got 6, want Block.Attention",
			config: cross(layers.AttentionConfig{EmbedDim: 12, OutDim: 6, NumHeads: 2})},
		{wantErr: "DecoderBlock: Cross.NumHeads: got 5",
			config: cross(layers.AttentionConfig{EmbedDim: 12, NumHeads: 5})},
	} {
		p := layers.NewParams(tensor.Float32, 1)
		var err error
		switch c := row.config.(type) {
		case layers.NormConfig:
			_, err = layers.NewNorm(p.Scope(""), c)
		case layers.MLPConfig:
			_, err = layers.NewMLP(p.Scope(""), c)
		case layers.BlockConfig:
			_, err = layers.NewBlock(p.Scope(""), c)
		case layers.DecoderBlockConfig:
			_, err = layers.NewDecoderBlock(p.Scope(""), c)
		}
		require.ErrorContains(t, err, "layers: "+row.wantErr)
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
	good := input(t, b, "good", golden.Numbers(tensor.Float32, 2, 3, 12))
	for _, row := range []struct {
		wantErr string
		x       *G.Node
	}{
		{wantErr: "got nil, want a node"},
		{wantErr: "shape (2, 3, 5), want ([B,] ", x: input(t, b, "thin", golden.Numbers(tensor.Float32, 2, 3, 5))},
		{wantErr: "shape (12), want ([B,] ", x: input(t, b, "row", golden.Numbers(tensor.Float32, 12))},
		{wantErr: "got float64, want float32 as the parameters", x: input(t, b, "wide", golden.Numbers(tensor.Float64, 3, 12))},
		{wantErr: "shape (2, 3, 1, 12), want ([B,] ", x: input(t, b, "deep", golden.Numbers(tensor.Float32, 2, 3, 1, 12))},
	} {
		x := row.x
		for _, forward := range []func() (*G.Node, error){
			func() (*G.Node, error) { return norm.Forward(b, x) },
			func() (*G.Node, error) { return mlp.Forward(b, x) },
			func() (*G.Node, error) { return pre.Forward(b, layers.AttentionInput{Query: x}) },
			func() (*G.Node, error) { return post.Forward(b, layers.AttentionInput{Query: x}) },
			func() (*G.Node, error) { return decoder.Forward(b, layers.DecoderInput{X: x, Memory: good}) },
			func() (*G.Node, error) { return decoder.Forward(b, layers.DecoderInput{X: good, Memory: x}) },
		} {
			out, err := forward()
			require.ErrorContains(t, err, row.wantErr)
			require.ErrorContains(t, err, "layers: ")
			require.Nil(t, out)
		}
	}
	for _, in := range []layers.AttentionInput{{Query: good, Key: good}, {Query: good, Value: good}} {
		_, err = pre.Forward(b, in)
		require.ErrorContains(t, err, "layers: pre: Block: key: got another sequence than the query, want nil")
	}
}

// Blocks of layout Torch made from seed 123 begin with the values of PyTorch's layers, to
// the bit.
func TestInitialValuesOfBlocksArePyTorchs(t *testing.T) {
	file := golden.Load(t, "torch/gpt.safetensors")
	for _, p := range torchTypes {
		params := layers.NewParams(p.dt, 123)
		c := torchBlock()
		c.Attention.EmbedDim, c.MLP.DimFeedforward = 6, 5
		_, err := layers.NewBlock(params.Scope("encoder"), c)
		require.NoError(t, err)
		_, err = layers.NewDecoderBlock(params.Scope("decoder"), layers.DecoderBlockConfig{Block: c})
		require.NoError(t, err)
		prefix := "init." + p.label + "."
		require.ElementsMatch(t, torchCase{file: file, prefix: prefix}.entries(""), names(params))
		for name, v := range params.All() {
			require.Equal(t, file.Shape(prefix+name), []int(v.Shape()), name)
			golden.Close(t, name, file.Float64(prefix+name), golden.Floats(t, v), 0, 0)
		}
	}
}
