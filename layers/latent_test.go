package layers_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/internal/refusal"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// latentCases are the layers as testdata/torch has them.
func latentCases() map[string]layers.AttentionConfig {
	plain := layers.AttentionConfig{EmbedDim: 10, NumHeads: 3, Mask: mask.Causal{},
		Latent: &layers.LatentConfig{KVLoraRank: 7, QKNopeHeadDim: 5, QKRopeHeadDim: 4, VHeadDim: 6}}
	lowRank, scaled := plain, plain
	lowRank.Latent = new(*plain.Latent)
	lowRank.Latent.QLoraRank = 8
	scaled.Scale, scaled.RoPE = 0.4, &graph.RoPEConfig{Base: 50}
	return map[string]layers.AttentionConfig{"plain": plain, "low_rank": lowRank, "scaled": scaled}
}

// eachLatent calls f for every case, in both types, with a layer of PyTorch's parameters.
func eachLatent(t *testing.T, f func(t *testing.T, want torchCase, l *layers.Attention, p *layers.Params)) {
	file := golden.Load(t, "torch/latentattention.safetensors")
	for name, c := range latentCases() {
		for _, kind := range torchTypes {
			t.Run(name+"/"+kind.label, func(t *testing.T) {
				want := torchCase{file, name + ".", kind.dt, kind.tol}
				p := layers.NewParams(want.dt, 1)
				l := must(layers.NewAttention(p.Scope(""), c))
				require.ElementsMatch(t, want.entries("param."), slices.Collect(maps.Keys(maps.Collect(p.Shapes()))))
				for _, name := range want.entries("param.") {
					require.NoError(t, p.Set(name, want.load("param."+name)))
				}
				f(t, want, l, p)
			})
		}
	}
}

// Outputs, weights and all gradients are PyTorch's, also of padded sequences: of one op, with statistics, and of one op
// for each step; and Gorgonia's own machine computes the same.
func TestLatentEqualsPyTorch(t *testing.T) {
	for _, change := range []func(b *layers.Build){
		func(*layers.Build) {}, func(b *layers.Build) { b.Observe("*") }, func(b *layers.Build) { b.Compose("*") },
	} {
		eachLatent(t, func(t *testing.T, want torchCase, l *layers.Attention, p *layers.Params) {
			b := layers.NewBuild(p, layers.Train)
			change(b)
			x := input(t, b, "x", want.load("x"))
			lengths := input(t, b, "lengths", tensor.New(tensor.WithBacking([]int64{9, 4})))
			nodes := G.Nodes{b.Of(l.Forward(b, x)), b.Of(l.Weights(b, layers.AttentionInput{Query: x})),
				b.Of(l.Attend(b, layers.AttentionInput{Query: x, Mask: mask.KeyLengths{Lengths: lengths}}))}
			require.NoError(t, b.Err())
			wrt, entries := G.Nodes{x}, []string{"out", "weights", "short", "dx"}
			for _, n := range b.Learnables() {
				wrt, entries = append(wrt, n), append(entries, "grad."+n.Name())
			}
			require.Len(t, b.Learnables(), len(want.entries("grad.")))
			grads := must(G.Backpropagate(nodes[:1], G.Nodes{input(t, b, "dout", want.load("dout"))}, wrt))
			nodes = append(nodes, grads...)
			got := values(t, nodes...)
			for i, n := range nodes {
				want.near(t, entries[i], n, got[i])
			}
			if want.dt != tensor.Float64 {
				return
			}
			tape := G.NewTapeMachine(b.Graph())
			defer tape.Close()
			require.NoError(t, tape.RunAll())
			for i, n := range nodes {
				require.Equal(t, got[i], golden.Floats(t, n.Value()), entries[i])
			}
		})
	}
}

// Products of operands in bfloat16 are near those that are not rounded, with a cache too.
func TestLatentInBFloat16(t *testing.T) {
	t.Setenv("ATTENTION_BF16", "emulated")
	eachLatent(t, func(t *testing.T, want torchCase, l *layers.Attention, p *layers.Params) {
		if want.dt != tensor.Float32 {
			return
		}
		exact := want.file.Float64(want.prefix + "out")
		for _, cached := range []bool{false, true} {
			b := layers.NewBuild(p, layers.Eval)
			b.SetPrecision(graph.BFloat16)
			in := layers.AttentionInput{}
			if cached {
				cache := must(l.NewCache(graph.KVCacheConfig{Batch: 2, Capacity: 9}))
				in.Cache, in.Start = cache, input(t, b, "start", tensor.New(tensor.FromScalar(0)))
			}
			got := wholeOutput(t, want, l, b, in)
			golden.Close(t, "output", exact, got, 0.1, 0.1)
			far := 0.0
			for i, v := range got {
				far = max(far, math.Abs(v-exact[i]))
			}
			require.Greater(t, far, 1e-4, "it is rounded")
		}
	})
}

func TestLatentRefuses(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	l := must(layers.NewAttention(p.Scope("a"), latentCases()["plain"]))
	linear := must(layers.NewLinearAttention(p.Scope("b"), layers.LinearAttentionConfig{EmbedDim: 4, NumHeads: 2}))
	other := must(graph.NewKVCache(tensor.Float64, graph.KVCacheConfig{KeyWidth: 3, ValueWidth: 3, Capacity: 5}))
	refusesInputs(t, p, l.Attend, "Attention", []int{5, 10}, []wrongInput{
		{"query: shape (5, 7), want ([B,] T, 10)",
			func(b *layers.Build, in *layers.AttentionInput) { in.Query = b.Input("y", 5, 7) }},
		{"key: got another sequence than the query with Latent, want the same",
			func(b *layers.Build, in *layers.AttentionInput) { in.Key = b.Input("y", 5, 10) }},
		{"start: got one without a cache, want both",
			func(b *layers.Build, in *layers.AttentionInput) { in.Start = b.InputOf(tensor.Int, "start") }},
		{"cache: got a *layers.linearCache, want one of NewCache", func(b *layers.Build, in *layers.AttentionInput) {
			in.Start, in.Cache = b.InputOf(tensor.Int, "start"), must(linear.NewCache(1))
		}},
		{"graph: FusedAttention: cache: got one for 1 sequences of float64, keys 3 and values 3 wide, want 1 of float64, " +
			"11 and 7 wide", func(b *layers.Build, in *layers.AttentionInput) {
			in.Start, in.Cache = b.InputOf(tensor.Int, "start"), other
		}},
	})
}

func TestLatentConfigs(t *testing.T) {
	full := latentCases()["low_rank"]
	requireNoZero(t, *full.Latent)
	requireRoundTrip(t, full)
	base := full
	base.Latent = &layers.LatentConfig{QKNopeHeadDim: 5}
	refuses(t, "Attention", layers.NewAttention, base, refusal.Rows{
		{`{"latent": {"kv_lora_rank": -1}}`, "Latent.KVLoraRank: got -1, want at least 0"},
		{`{"latent": {"v_head_dim": 1099511627776}}`, "Latent.VHeadDim: got 1099511627776, want at most 268435455"},
		{`{"latent": {"kv_lora_rank": 134217728}}`,
			"kv_b_proj.weight: shape (30, 134217728), want at most 2147483647 elements"},
		{`{"latent": {"q_lora_rank": 134217728}}`,
			"q_b_proj.weight: shape (21, 134217728), want at most 2147483647 elements"},
		{`{"latent": {"v_head_dim": 134217728}}`,
			"kv_b_proj.weight: shape (402653199, 20), want at most 2147483647 elements"},
		{`{"latent": {"qk_rope_head_dim": 3}}`, "Latent.QKRopeHeadDim: got 3, want an even number"},
		{`{"latent": {"qk_nope_head_dim": 0}}`,
			"NumHeads: got 3 for EmbedDim=10, want a divisor of it, or Latent.QKNopeHeadDim"},
		{`{"num_heads": 1125899906842624}`, "NumHeads: got 1125899906842624, want at most 65536"},
	})
}
