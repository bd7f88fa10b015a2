package layers_test

import (
	"math"
	"testing"

	"attention/internal/golden"
	"attention/internal/refusal"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// requireDeclared checks that a config declares the parameters that its layer has.
func requireDeclared[C, L any](t *testing.T, p *layers.Params, construct func(layers.Scope, C) (L, error), c C) {
	t.Helper()
	declared := must(layers.Declare(construct, c))
	require.Equal(t, shapes(p), shapes(declared))
	require.Equal(t, p.Count(), declared.Count())
}

// Blocks have the names of their layout's models, and the number of parameters that their config declares.
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
		must(layers.NewBlock(p.Scope(""), c))
		require.Equal(t, want, shapes(p))
		requireDeclared(t, p, layers.NewBlock, c)
	}
}

func TestBlockConfigsAreRefused(t *testing.T) {
	refuses(t, "Norm", layers.NewNorm, layers.NormConfig{EmbedDim: 3}, refusal.Rows{
		{`{"embed_dim": 0}`, "EmbedDim: got 0, want at least 1"},
		{`{"embed_dim": 9223372036854775807}`, "EmbedDim: got 9223372036854775807, want at most 2147483647"},
		{`{"kind": "batch"}`, `Kind: got "batch", want one of layer, rms`},
		{`{"kind": "rms", "bias": true}`, `Bias: got true with Kind=rms, want one of the two`},
		{`{"unit_offset": true}`, `UnitOffset: got true without Kind=rms, want both`},
		{func(c *layers.NormConfig) { c.Eps = math.NaN() }, "Eps: got NaN, want a finite number of at least 0"},
		{func(c *layers.NormConfig) { c.Eps = math.Inf(1) }, "Eps: got +Inf, want a finite number of at least 0"},
	})
	refuses(t, "MLP", layers.NewMLP, layers.MLPConfig{EmbedDim: 3}, refusal.Rows{
		{`{"embed_dim": 0}`, "EmbedDim: got 0, want at least 1"},
		{`{"dim_feedforward": -1}`, "DimFeedforward: got -1, want at least 0"},
		{`{"dim_feedforward": 9223372036854775807}`,
			"DimFeedforward: got 9223372036854775807 for EmbedDim=3, want at most 2147483647 elements in a weight"},
		{`{"embed_dim": 9223372036854775807}`, "EmbedDim: got 9223372036854775807, want at most 2147483647"},
		{`{"activation": "elu"}`,
			`Activation: got "elu", want one of gelu, gelu_tanh, relu, relu2, silu, swiglu, geglu, geglu_tanh`},
		{`{"layout": "x"}`, `Layout: got "x", want one of book, torch, gpt2, llama, per_head, raw, bert`},
		{`{"dropout": 1}`, "Dropout: got 1, want a number from 0 to below 1"},
		{`{"hidden_dropout": -1}`, "HiddenDropout: got -1, want a number from 0 to below 1"},
		{`{"out_std": -1}`, "OutStd: got -1, want a finite number of at least 0"},
	})
	refuses(t, "Block", layers.NewBlock, gptBlock(), refusal.Rows{
		{`{"attention": {"num_heads": 0}}`, "Attention.NumHeads: got 0, want at least 1"},
		{`{"attention": {"out_std": -1}}`, "Attention.OutStd: got -1, want a finite number of at least 0"},
		{`{"attention": {"layout": "x"}}`, `Attention.Layout: got "x", want one of book, torch, gpt2, llama, per_head, raw, bert`},
		{`{"attention": {"out_dim": 6}}`, "Attention.OutDim: got 6, want EmbedDim=12"},
		{`{"mlp": {"embed_dim": 6}}`, "MLP.EmbedDim: got 6, want Attention.EmbedDim=12"},
		{`{"norm": {"embed_dim": 6}}`, "Norm.EmbedDim: got 6, want Attention.EmbedDim=12"},
	})
	refuses(t, "DecoderBlock", layers.NewDecoderBlock, layers.DecoderBlockConfig{Block: gptBlock()}, refusal.Rows{
		{`{"cross": {"embed_dim": 6, "num_heads": 2}}`, "Cross.EmbedDim: got 6, want Block.Attention.EmbedDim=12"},
		{`{"cross": {"embed_dim": 12, "out_dim": 6, "num_heads": 2}}`,
			"Cross.OutDim: got 6, want Block.Attention.EmbedDim=12"},
		{`{"cross": {"embed_dim": 12, "num_heads": 5}}`, "Cross.NumHeads: got 5, want a divisor of OutDim=12"},
	})
}

func TestBlockInputsAreRefused(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	norm := must(layers.NewNorm(p.Scope("norm"), layers.NormConfig{EmbedDim: 12}))
	mlp := must(layers.NewMLP(p.Scope("mlp"), layers.MLPConfig{EmbedDim: 12}))
	pre := must(layers.NewBlock(p.Scope("pre"), gptBlock()))
	post := must(layers.NewBlock(p.Scope("post"), postNorm(gptBlock)()))
	decoder := must(layers.NewDecoderBlock(p.Scope("decoder"), layers.DecoderBlockConfig{Block: gptBlock()}))

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
			func() (*G.Node, error) { return decoder.Forward(b, x, good, nil, nil) },
			func() (*G.Node, error) { return decoder.Forward(b, good, x, nil, nil) },
		} {
			out, err := forward()
			require.ErrorContains(t, err, row.wantErr)
			require.ErrorContains(t, err, "layers: ")
			require.Nil(t, out)
		}
	}
	for _, in := range []layers.AttentionInput{{Query: good, Key: good}, {Query: good, Value: good}} {
		_, err := pre.Forward(b, in)
		require.ErrorContains(t, err, "layers: pre: Block: key: got another sequence than the query, want nil")
	}
}

// The initial values of blocks in layout Torch from seed 123 equal those of PyTorch's layers, to the bit.
func TestInitialValuesOfBlocksArePyTorchs(t *testing.T) {
	file := golden.Load(t, "torch/gpt.safetensors")
	for _, p := range torchTypes {
		params := layers.NewParams(p.dt, 123)
		c := torchBlock()
		c.Attention.EmbedDim, c.MLP.DimFeedforward = 6, 5
		must(layers.NewBlock(params.Scope("encoder"), c))
		must(layers.NewDecoderBlock(params.Scope("decoder"), layers.DecoderBlockConfig{Block: c}))
		prefix := "init." + p.label + "."
		require.ElementsMatch(t, torchCase{file: file, prefix: prefix}.entries(""), names(params))
		for name, v := range params.All() {
			require.Equal(t, file.Shape(prefix+name), []int(v.Shape()), name)
			golden.Close(t, name, file.Float64(prefix+name), golden.Floats(t, v), 0, 0)
		}
	}
}
