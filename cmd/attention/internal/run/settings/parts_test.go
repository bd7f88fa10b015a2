package settings

import (
	"encoding/json"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"

	"github.com/stretchr/testify/require"
)

// Flags make a GPT another decoder, which goes through config.json.
func TestPartsOfAGPT(t *testing.T) {
	c := settled(t, "--model", "gpt", "--layers", "2", "--width", "12", "--heads", "3", "--kv-heads", "1", "--bias=false",
		"--rope", "--norm", "rms", "--mlp", "swiglu", "--qk-norm", "rms", "--window", "4", "--dropout", "0.5")
	d, ok := c.Model.Blocks()
	require.True(t, ok)
	require.Equal(t, layers.DecoderConfig{ContextLength: 64, NumLayers: 2, Layout: layers.Llama, TieWordEmbeddings: true,
		EmbeddingDropout: 0.5, Blocks: []layers.BlockConfig{{
			Attention: layers.AttentionConfig{EmbedDim: 12, NumHeads: 3, NumKVHeads: 1, Layout: layers.Llama,
				RoPE: &graph.RoPEConfig{}, QKNorm: layers.RMSNorm, Dropout: 0.5, OutDropout: 0.5,
				Mask: mask.And(mask.Causal{}, mask.SlidingWindow{Left: 3})},
			MLP:  layers.MLPConfig{Activation: layers.SwiGLU, Dropout: 0.5},
			Norm: layers.NormConfig{EmbedDim: 12, Kind: layers.RMSNorm, Eps: 1e-5},
		}}}, d)
	text, err := json.Marshal(c.Model)
	require.NoError(t, err)
	require.Contains(t, string(text), `"rope":true,"norm":"rms","mlp":"swiglu","qk_norm":"rms","window":4}`)
	var read ModelConfig
	require.NoError(t, json.Unmarshal(text, &read))
	require.Equal(t, c.Model, read)
	require.Equal(t, "gpt, 2 layers, 3 heads (1 of keys and values), width 12, rotary positions, rms norms, swiglu, "+
		"rms norms of queries and keys, window 4, dropout of embeddings 0.5, dropout of attention 0.5, "+
		"dropout of residuals 0.5", c.Model.String())

	plain := settled(t, "--model", "gpt").Model
	text, err = json.Marshal(plain)
	require.NoError(t, err)
	require.NotContains(t, string(text), "rope")
	d, _ = plain.Blocks()
	_, ok = d.GPT()
	require.True(t, ok, "no part makes no other decoder")
}

// Linear attention is in all layers, or in all but every n-th.
func TestLinearPartsOfAGPT(t *testing.T) {
	form, err := layers.LinearAttentionOf("gated_delta_net")
	require.NoError(t, err)
	args := []string{"--model", "gpt", "--layers", "8", "--attention", "gated_delta_net"}
	all, _ := settled(t, args...).Model.Blocks()
	require.Len(t, all.Blocks, 1)
	require.Equal(t, &form, all.Blocks[0].Linear)
	c := settled(t, append(args, "--full-attention-every", "4")...)
	some, _ := c.Model.Blocks()
	require.Len(t, some.Blocks, 2)
	require.Equal(t, all.Blocks[0], some.Blocks[0])
	require.Nil(t, some.Blocks[1].Linear)
	require.Equal(t, []int{0, 0, 0, 1}, some.Pattern)
	text, err := json.Marshal(c.Model)
	require.NoError(t, err)
	var read ModelConfig
	require.NoError(t, json.Unmarshal(text, &read))
	require.Equal(t, c.Model, read)
	require.Equal(t, "gpt, 8 layers, 4 heads, width 64, attention by gated_delta_net but in one of 4 layers",
		c.Model.String())
}

// Every form makes a GPT, in all layers or beside full attention, and its config goes through JSON.
func TestEveryFormOfAGPT(t *testing.T) {
	for _, form := range Forms() {
		args := []string{"--model", "gpt", "--layers", "4", "--attention", form}
		for _, args := range [][]string{args, append(args, "--full-attention-every", "2", "--rope")} {
			d, ok := settled(t, args...).Model.Blocks()
			require.True(t, ok)
			d.VocabSize = 7
			_, err := layers.Declare(layers.NewDecoder, d)
			require.NoError(t, err, args)
			text, err := json.Marshal(d)
			require.NoError(t, err)
			var read layers.DecoderConfig
			require.NoError(t, json.Unmarshal(text, &read))
			require.Equal(t, d, read, args)
			full := d.Block(3)
			special := full.Linear != nil || full.Attention.Latent != nil || full.Attention.Sparse != nil ||
				full.Attention.Differential != nil || full.Attention.Forget || full.Attention.Sigmoid
			require.Equal(t, len(args) == 6, special, args)
		}
	}
}

// A form may differ from layer to layer, also beside layers of full attention.
func TestFormsOfLayers(t *testing.T) {
	form := attentionForm(func(b *layers.BlockConfig, _ layers.GPTConfig, i int) { b.Attention.Scale = float64(1 + i/2) })
	full, g := layers.BlockConfig{ResidualScale: 3}, layers.GPTConfig{NumLayers: 6}
	scaled := func(by float64) layers.BlockConfig {
		return layers.BlockConfig{ResidualScale: 3, Attention: layers.AttentionConfig{Scale: by}}
	}
	for every, want := range map[int][]int{0: {0, 0, 1, 1, 2, 2}, 2: {0, 3, 1, 3, 2, 3}, 4: {0, 0, 1, 3, 2, 2}} {
		kinds, pattern := form.blocks(full, g, every)
		require.Equal(t, append([]layers.BlockConfig{scaled(1), scaled(2), scaled(3)}, full)[:len(kinds)], kinds)
		require.Equal(t, want, pattern)
	}
}

func TestPartsAreRefused(t *testing.T) {
	for _, row := range []struct {
		args []string
		want string
	}{
		{args: []string{"--norm", "batch"}, want: `--norm: got "batch", want one of layer, rms`},
		{args: []string{"--mlp", "elu"}, want: `--mlp: got "elu", want one of gelu, gelu_tanh, relu, relu2, silu, swiglu, geglu, geglu_tanh`},
		{args: []string{"--qk-norm", "x"}, want: `--qk-norm: got "x", want one of l2, rms`},
		{args: []string{"--window", "-1"}, want: "--window: got -1, want at least 0"},
		{args: []string{"--attention", "mamba"},
			want: `--attention: got "mamba", want one of delta_net, differential, forgetting, gated_delta_net, gla, latent, ` +
				"linear, moba, retention, sigmoid"},
		{args: []string{"--full-attention-every", "4"},
			want: "--full-attention-every: got 4 without --attention, want both"},
		{args: []string{"--attention", "gla", "--full-attention-every", "1"},
			want: "--full-attention-every: got 1, want 0 or at least 2: no layer would have gla"},
		{args: []string{"--attention", "latent", "--kv-heads", "2"},
			want: "--kv-heads: got 2 with --attention, want one of the two"},
		{args: []string{"--attention", "latent", "--qk-norm", "rms"},
			want: `--qk-norm: got "rms" with --attention, want one of the two`},
		{args: []string{"--rope", "--width", "12"},
			want: "--rope: got 0 for D=3, want an even D above 0, or an even number of its elements"},
		{args: []string{"--rope", "--initializer", "torch"},
			want: `--initializer: got "torch", which only a GPT has, want "gpt2"`},
	} {
		s, err := New(parsed(t, append([]string{"--model", "gpt"}, row.args...)...), nil)
		require.NoError(t, err)
		_, err = s.Config()
		require.ErrorContains(t, err, row.want)
	}
	_, err := New(parsed(t, "--rope"), nil)
	require.EqualError(t, err, "--rope: got it with --model layer, want it with --model gpt only")
	_, err = New(parsed(t, "--model", "decoder", "--width", "8"), nil)
	require.EqualError(t, err, "--width: got it with --model decoder, want it with --model gpt only")
	_, err = New(parsed(t, "--model", "decoder", "--dropout", "0.1"), nil)
	require.EqualError(t, err, "--dropout: got it with --model decoder, want it with --model gpt only")
}

// A config file puts a decoder together; values that it leaves out are a small Llama's.
func TestDecoderOfAConfigFile(t *testing.T) {
	c := settled(t, "--model", "decoder")
	want := settled(t, "--model", "gpt", "--rope", "--norm", "rms", "--mlp", "swiglu", "--bias=false")
	d, _ := want.Model.Blocks()
	d.TieWordEmbeddings = false
	require.Equal(t, d, *c.Model.Decoder)
	want.Model = c.Model
	require.Equal(t, want, c)
	require.Equal(t, "decoder, 4 layers, 4 heads, width 64", c.Model.String())

	file := configFile(t, `{"model": {"type": "decoder", "logit_softcap": 3, "pattern": [0, 0, 1], "blocks": [
		{"attention": {"embed_dim": 8, "num_heads": 2}, "norm_placement": "sandwich"},
		{"attention": {"embed_dim": 8, "num_heads": 4}, "parallel": true}]}}`)
	c = settled(t, "--config", file, "--layers", "3", "--context", "7", "--vocab", "99")
	require.Equal(t, layers.DecoderConfig{VocabSize: 99, ContextLength: 7, NumLayers: 3, Pattern: []int{0, 0, 1},
		LogitSoftcap: 3, Layout: layers.Llama, Blocks: []layers.BlockConfig{
			{Attention: layers.AttentionConfig{EmbedDim: 8, NumHeads: 2}, NormPlacement: layers.SandwichNorm},
			{Attention: layers.AttentionConfig{EmbedDim: 8, NumHeads: 4}, Parallel: true}}}, *c.Model.Decoder)
	require.Equal(t, "decoder, 3 layers of 2 kinds, 2 to 4 heads, width 8", c.Model.String())
	require.Equal(t, 2+2+4, c.Model.Heads())

	for _, row := range []struct{ model, want string }{
		{model: `"blocks": [{"attention": {"embed_dim": 8, "num_heads": 3}}]`,
			want: "model.blocks[0].attention.num_heads: got 3, want a divisor of out_dim=8"},
		{model: `"blocks": [{"atention": {}}]`, want: `model.blocks[0]: unknown field "atention"`},
		{model: `"blocks": []`, want: "model.blocks: got none, want at least one kind"},
		{model: `"num_layers": 1000000000`, want: "model.num_layers: got 1000000000, want at most 65536"},
		{model: `"pattern": [0, 1]`, want: "model.pattern[1]: got 1, want 0 to 0, one of blocks"},
		{model: `"vocab_size": 100000000`, want: "model.vocab_size: got 100000000 for blocks[0].attention.embed_dim=64"},
		{model: `"embed_dim": 8`, want: `model: unknown field "embed_dim"; it has type, vocab_size, context_length`},
	} {
		s, err := New(parsed(t, "--config", configFile(t, `{"model": {"type": "decoder", `+row.model+`}}`)), nil)
		if err == nil {
			_, err = s.Config()
		}
		require.ErrorContains(t, err, row.want)
		require.NotContains(t, err.Error(), "\n")
	}
}
