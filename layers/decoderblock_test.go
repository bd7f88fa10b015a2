package layers_test

import (
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

func TestDecoderBlockParameters(t *testing.T) {
	for layout, want := range map[layers.Layout][]string{
		"": {"attn.W_query.weight (6, 6)", "attn.W_key.weight (6, 6)", "attn.W_value.weight (6, 6)",
			"attn.out_proj.weight (6, 6)", "cross_attn.W_query.weight (6, 6)", "cross_attn.W_key.weight (6, 6)",
			"cross_attn.W_value.weight (6, 6)", "cross_attn.out_proj.weight (6, 6)",
			"mlp.fc.weight (5, 6)", "mlp.proj.weight (6, 5)", "ln_1.weight (6)", "ln_cross_attn.weight (6)", "ln_2.weight (6)"},
		layers.GPT2: {"attn.c_attn.weight (6, 18)", "attn.c_proj.weight (6, 6)", "crossattention.c_attn.weight (6, 18)",
			"crossattention.c_proj.weight (6, 6)", "mlp.c_fc.weight (6, 5)", "mlp.c_proj.weight (5, 6)",
			"ln_1.weight (6)", "ln_cross_attn.weight (6)", "ln_2.weight (6)"},
		layers.Llama: {"self_attn.q_proj.weight (6, 6)", "self_attn.k_proj.weight (6, 6)", "self_attn.v_proj.weight (6, 6)",
			"self_attn.o_proj.weight (6, 6)", "cross_attn.q_proj.weight (6, 6)", "cross_attn.k_proj.weight (6, 6)",
			"cross_attn.v_proj.weight (6, 6)", "cross_attn.o_proj.weight (6, 6)",
			"mlp.up_proj.weight (5, 6)", "mlp.down_proj.weight (6, 5)",
			"input_layernorm.weight (6)", "cross_attn_layernorm.weight (6)", "post_attention_layernorm.weight (6)"},
	} {
		c := layers.DecoderBlockConfig{Block: layers.BlockConfig{
			Attention: layers.AttentionConfig{EmbedDim: 6, NumHeads: 2, Layout: layout, RoPE: &graph.RoPEConfig{Dims: 2}},
			MLP:       layers.MLPConfig{DimFeedforward: 5},
		}}
		p := layers.NewParams(tensor.Float32, 1)
		must(layers.NewDecoderBlock(p.Scope(""), c))
		require.Equal(t, want, shapes(p))
		requireDeclared(t, p, layers.NewDecoderBlock, c)
	}
}

// A memory may have another width than x.
func TestDecoderBlockOfAnotherMemory(t *testing.T) {
	c := layers.DecoderBlockConfig{
		Block: layers.BlockConfig{Attention: layers.AttentionConfig{EmbedDim: 6, NumHeads: 2, Mask: mask.Causal{}}},
		Cross: layers.AttentionConfig{EmbedDim: 6, KDim: 5, VDim: 5, NumHeads: 3},
	}
	p := layers.NewParams(tensor.Float64, 1)
	l := must(layers.NewDecoderBlock(p.Scope(""), c))
	requireDeclared(t, p, layers.NewDecoderBlock, c)
	b := layers.NewBuild(p, layers.Eval)
	out := must(l.Forward(b, input(t, b, "x", golden.Numbers(tensor.Float64, 2, 3, 6)),
		input(t, b, "memory", golden.Numbers(tensor.Float64, 2, 7, 5)), nil, nil))
	require.Equal(t, tensor.Shape{2, 3, 6}, out.Shape())
	values(t, out)
}

// A mask of the call hides what the same mask of the config hides.
func TestDecoderBlockMask(t *testing.T) {
	x, memory := golden.Numbers(tensor.Float64, 2, 5, 12), golden.Numbers(tensor.Float64, 2, 3, 12)
	run := func(config, call mask.Mask) []float64 {
		block := gptBlock()
		block.Attention.Mask = config
		p := layers.NewParams(tensor.Float64, 1)
		l := must(layers.NewDecoderBlock(p.Scope(""), layers.DecoderBlockConfig{Block: block}))
		b := layers.NewBuild(p, layers.Eval)
		out := must(l.Forward(b, input(t, b, "x", x), input(t, b, "memory", memory), call, nil))
		return values(t, out)[0]
	}
	causal := run(mask.Causal{}, nil)
	require.Equal(t, causal, run(nil, mask.Causal{}))
	require.NotEqual(t, causal, run(nil, nil))
}

// Each token sees the whole memory, whatever mask the tokens themselves have. The test changes the memory's last token.
func TestDecoderBlockSeesWholeMemory(t *testing.T) {
	for name, set := range map[string]func(*layers.AttentionConfig){
		"plain":  func(*layers.AttentionConfig) {},
		"sparse": func(c *layers.AttentionConfig) { c.Sparse = &graph.BlockSparse{BlockSize: 2, Blocks: 1} },
		"forget": func(c *layers.AttentionConfig) { c.Forget = true },
		"length": func(c *layers.AttentionConfig) { c.ContextLength = 6 },
	} {
		block := layers.BlockConfig{Attention: layers.AttentionConfig{EmbedDim: 4, NumHeads: 1, Mask: mask.Causal{}}}
		set(&block.Attention)
		p := layers.NewParams(tensor.Float64, 1)
		l, err := layers.NewDecoderBlock(p.Scope("b"), layers.DecoderBlockConfig{Block: block})
		require.NoError(t, err, name)
		require.NotContains(t, strings.Join(shapes(p), " "), "cross_attn.fgate", name)
		memory := golden.Numbers(tensor.Float64, 9, 4)
		run := func() []float64 {
			b := layers.NewBuild(p, layers.Eval)
			y, err := l.Forward(b, input(t, b, "x", golden.Numbers(tensor.Float64, 6, 4)),
				input(t, b, "memory", memory), nil, nil)
			require.NoError(t, err, name)
			return values(t, y)[0]
		}
		before := run()
		last := memory.Data().([]float64)[8*4:]
		for i := range last {
			last[i] = -3 * last[i]
		}
		after := run()
		for i := range before {
			require.NotEqual(t, before[i], after[i], "%s: element %d", name, i)
		}
	}
}
