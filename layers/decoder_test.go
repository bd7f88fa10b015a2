package layers_test

import (
	"strings"
	"testing"

	"attention/graph"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// newDecoder makes the model of a config, and its parameters.
func newDecoder(t testing.TB, dt tensor.Dtype, c layers.DecoderConfig) (*layers.Decoder, *layers.Params) {
	t.Helper()
	p := layers.NewParams(dt, 3)
	m := must(layers.NewDecoder(p.Scope(""), c))
	require.Equal(t, c, m.Config())
	return m, p
}

// The names are those of transformers' models, by the placement of norms.
func TestDecoderParameters(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(c *layers.DecoderConfig, b *layers.BlockConfig)
		norms  string
	}{
		{"Llama", func(*layers.DecoderConfig, *layers.BlockConfig) {}, "input_layernorm post_attention_layernorm"},
		{"Gemma 3", func(_ *layers.DecoderConfig, b *layers.BlockConfig) { b.NormPlacement = layers.SandwichNorm },
			"input_layernorm post_attention_layernorm pre_feedforward_layernorm post_feedforward_layernorm"},
		{"OLMo 2", func(_ *layers.DecoderConfig, b *layers.BlockConfig) { b.NormPlacement = layers.OutputNorm },
			"post_attention_layernorm post_feedforward_layernorm"},
		{"GPT-NeoX", func(_ *layers.DecoderConfig, b *layers.BlockConfig) { b.Parallel = true },
			"input_layernorm post_attention_layernorm"},
		{"positions, tied", func(c *layers.DecoderConfig, _ *layers.BlockConfig) {
			c.LearnedPositions, c.TieWordEmbeddings = true, true
		}, "input_layernorm post_attention_layernorm"},
	} {
		c := tinyDecoder()
		c.NumLayers = 1
		row.change(&c, &c.Blocks[0])
		_, p := newDecoder(t, tensor.Float32, c)
		requireDeclared(t, p, layers.NewDecoder, c)
		want := []string{"model.embed_tokens.weight (13, 12)"}
		if c.LearnedPositions {
			want = append(want, "model.embed_positions.weight (11, 12)")
		}
		in := "model.layers.0."
		want = append(want, in+"self_attn.q_proj.weight (12, 12)", in+"self_attn.k_proj.weight (4, 12)",
			in+"self_attn.v_proj.weight (4, 12)", in+"self_attn.o_proj.weight (12, 12)", in+"mlp.gate_proj.weight (17, 12)",
			in+"mlp.up_proj.weight (17, 12)", in+"mlp.down_proj.weight (12, 17)", "model.norm.weight (12)")
		for norm := range strings.FieldsSeq(row.norms) {
			want = append(want, in+norm+".weight (12)")
		}
		if !c.TieWordEmbeddings {
			want = append(want, "lm_head.weight (13, 12)")
		}
		require.ElementsMatch(t, want, shapes(p), row.name)
	}
}

// A GPT is a decoder with the same parameters, to the bit.
func TestDecoderIsGPT(t *testing.T) {
	c := tinyGPT()
	c.NumKVHeads, c.EmbeddingDropout, c.QKVBias = 1, 0.5, new(false)
	for _, initializer := range []string{layers.GPT2Initializer, layers.TorchInitializer} {
		c.Initializer = initializer
		_, p := newGPT(t, tensor.Float32, c)
		_, q := newDecoder(t, tensor.Float32, c.Decoder())
		require.Equal(t, shapes(p), shapes(q))
		for name, v := range p.All() {
			other, _ := q.Get(name)
			require.Equal(t, v.Data(), other.Data(), name)
		}
	}
}

// A released Llama has the published number of parameters, and counting them allocates no parameters.
func TestDecoderCountOfLlama(t *testing.T) {
	block := layers.BlockConfig{
		Attention: layers.AttentionConfig{EmbedDim: 2048, NumHeads: 32, NumKVHeads: 8, RoPE: &graph.RoPEConfig{Base: 5e5}},
		MLP:       layers.MLPConfig{DimFeedforward: 8192, Activation: layers.SwiGLU},
		Norm:      layers.NormConfig{Kind: layers.RMSNorm, Eps: 1e-5},
	}
	c := layers.DecoderConfig{VocabSize: 128_256, ContextLength: 131_072, NumLayers: 16,
		Blocks: []layers.BlockConfig{block}, TieWordEmbeddings: true}
	require.Equal(t, 1_235_814_400, must(layers.Declare(layers.NewDecoder, c)).Count(), "Llama-3.2-1B")
}

// The kinds of blocks repeat by the pattern: a token sees beyond a window of three only in the third layer.
func TestDecoderPattern(t *testing.T) {
	c := tinyDecoder()
	c.NumLayers = 7
	m, p := newDecoder(t, tensor.Float64, c)
	b := layers.NewBuild(p, layers.Eval)
	must(m.Forward(b, input(t, b, "ids", sequences(0, 8))))
	calls := b.Calls("model.layers.*.self_attn")
	require.Len(t, calls, 7)
	for i, call := range calls {
		require.Equal(t, c.Blocks[[]int{0, 0, 1}[i%3]], c.Block(i))
		weights := must(call.Weights())
		seen := 0
		for _, w := range values(t, weights)[0][7*8 : 8*8] { // the last query of the first head
			if w > 0 {
				seen++
			}
		}
		require.Equal(t, []int{8, 8, 3, 8, 8, 3, 8}[i], seen, call.Path)
	}
}

// A config that its caller changes later does not change the model.
func TestDecoderKeepsItsConfig(t *testing.T) {
	c := tinyDecoder()
	m, _ := newDecoder(t, tensor.Float32, c)
	c.Blocks[0].Parallel, c.Pattern[0] = true, 1
	require.Equal(t, tinyDecoder(), m.Config())
	m.Config().Pattern[0] = 1
	require.Equal(t, tinyDecoder(), m.Config())
}

// decoderCases change the decoder of the tests of caches and PyTorch's values.
var decoderCases = map[string]func(c *layers.DecoderConfig){
	"llama":    func(*layers.DecoderConfig) {},
	"parallel": ofBlocks(func(b *layers.BlockConfig) { b.Parallel = true }),
	"post":     ofBlocks(func(b *layers.BlockConfig) { b.NormPlacement = layers.PostNorm }),
	"output":   ofBlocks(func(b *layers.BlockConfig) { b.NormPlacement, b.ResidualScale = layers.OutputNorm, 0.25 }),
	"sandwich": func(c *layers.DecoderConfig) {
		ofBlocks(func(b *layers.BlockConfig) { b.NormPlacement = layers.SandwichNorm })(c)
		c.EmbeddingScale, c.LogitSoftcap, c.TieWordEmbeddings = 3.5, 2, true
	},
	"parallel sandwich": func(c *layers.DecoderConfig) {
		ofBlocks(func(b *layers.BlockConfig) {
			b.NormPlacement, b.Parallel, b.ResidualScale = layers.SandwichNorm, true, 0.5
		})(c)
		c.LogitScale = 0.125
	},
	"gpt2": func(c *layers.DecoderConfig) {
		c.Layout, c.LearnedPositions, c.Pattern = layers.GPT2, true, []int{1, 0}
		c.Norm = layers.NormConfig{Bias: true}
	},
}

func ofBlocks(change func(b *layers.BlockConfig)) func(c *layers.DecoderConfig) {
	return func(c *layers.DecoderConfig) {
		for i := range c.Blocks {
			change(&c.Blocks[i])
		}
	}
}

type foreignCache struct{ layers.AttentionCache }

// A cache that an attention does not support is refused.
func TestDecoderRefusesForeignCaches(t *testing.T) {
	m, p := newDecoder(t, tensor.Float32, tinyDecoder())
	b := layers.NewBuild(p, layers.Eval)
	ids, start := input(t, b, "ids", sequences(0, 3)), b.InputOf(tensor.Int, "start")
	cache := must(m.NewCache(graph.KVCacheConfig{}))
	_, err := m.ForwardCached(b, ids, nil, cache)
	require.ErrorContains(t, err, "layers: model.layers.0.self_attn: Attention: start: got nil with a cache, want the")
	cache[2] = foreignCache{}
	_, err = m.ForwardCached(b, ids, start, cache)
	require.ErrorContains(t, err, "layers: model.layers.2.self_attn: Attention: cache: got a layers_test.foreignCache, "+
		"want one of NewCache")
	cache[0], b = (*graph.KVCache)(nil), layers.NewBuild(p, layers.Eval)
	_, err = m.ForwardCached(b, input(t, b, "ids", sequences(0, 3)), b.InputOf(tensor.Int, "start"), cache)
	require.ErrorContains(t, err, "cache: got a *graph.KVCache, want one of NewCache")
}

// An Eval graph has no dropout, and in a Train graph that of the embeddings comes first.
func TestDecoderDropout(t *testing.T) {
	c := tinyDecoder()
	c.EmbeddingDropout = 0.5
	m, p := newDecoder(t, tensor.Float64, c)
	b := layers.NewBuild(p, layers.Train)
	must(m.Forward(b, input(t, b, "ids", sequences(0, 3))))
	require.Equal(t, 2, b.Drop(0.5).Site)
}

// The next token's scores are the last row of all, and the loss is their cross entropy, with and without a cap.
func TestDecoderNextAndLoss(t *testing.T) {
	for name, change := range decoderCases {
		c := tinyDecoder()
		change(&c)
		m, p := newDecoder(t, tensor.Float64, c)
		b := layers.NewBuild(p, layers.Eval)
		ids, targets := input(t, b, "ids", sequences(2, 5)), input(t, b, "targets", sequences(2, 5))
		all := b.Of(m.Forward(b, ids))
		next, loss := b.Of(m.Next(b, ids)), b.Of(m.Loss(b, ids, targets))
		naive := b.Of(graph.CrossEntropy(all, targets, graph.CrossEntropyConfig{}))
		require.NoError(t, b.Err())
		got := values(t, all, next)
		require.InDeltaSlice(t, columns(got[0], 5*13, 4*13, 5*13), got[1], 1e-14, name)
		run(t, loss, naive)
		require.InDelta(t, number(naive.Value()), number(loss.Value()), 1e-13, name)
		if c.LogitSoftcap > 0 {
			for _, x := range got[0] {
				require.LessOrEqual(t, x*x, c.LogitSoftcap*c.LogitSoftcap)
			}
		}
	}
}
