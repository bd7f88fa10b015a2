package layers_test

import (
	"fmt"
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

// linearForms are the forms as testdata/torch has them, of width 12 and 4 heads.
func linearForms(t testing.TB) map[string]layers.LinearAttentionConfig {
	t.Helper()
	all := map[string]layers.LinearAttentionConfig{}
	for _, form := range []string{"linear", "retention", "gla", "delta_net", "gated_delta_net", "grouped"} {
		name := form
		if form == "grouped" {
			name = "gated_delta_net"
		}
		c := must(layers.LinearAttentionOf(name))
		c.EmbedDim, c.NumHeads = 12, 4
		if form == "grouped" {
			c.NumKVHeads = 2
		}
		if form == "grouped" || form == "gla" {
			c.ValueDim = 5
		}
		all[form] = c
	}
	return all
}

// linearLayer is a layer of a form with PyTorch's parameters.
func linearLayer(
	t testing.TB, want torchCase, c layers.LinearAttentionConfig,
) (*layers.LinearAttention, *layers.Params) {
	t.Helper()
	p := layers.NewParams(want.dt, 1)
	l := must(layers.NewLinearAttention(p.Scope(""), c))
	require.ElementsMatch(t, want.entries("param."), slices.Collect(maps.Keys(maps.Collect(p.Shapes()))))
	for _, name := range want.entries("param.") {
		require.NoError(t, p.Set(name, want.load("param."+name)))
	}
	return l, p
}

// eachLinear calls f for every form, in both types.
func eachLinear(t *testing.T, f func(t *testing.T, want torchCase, c layers.LinearAttentionConfig)) {
	file := golden.Load(t, "torch/linearlayers.safetensors")
	for form, c := range linearForms(t) {
		for _, p := range []struct {
			dt  tensor.Dtype
			tol float64
		}{{tensor.Float64, 1e-10}, {tensor.Float32, 2e-5}} {
			t.Run(fmt.Sprint(form, "/", p.dt), func(t *testing.T) { f(t, torchCase{file, form + ".", p.dt, p.tol}, c) })
		}
	}
}

// Outputs and all gradients are those of PyTorch's recurrence, of padded sequences too. In float32 they are within
// 1e-5, or at most twice as far from float64's as PyTorch's are.
func TestLinearAttentionEqualsPyTorch(t *testing.T) {
	eachLinear(t, func(t *testing.T, want torchCase, c layers.LinearAttentionConfig) {
		l, p := linearLayer(t, want, c)
		b := layers.NewBuild(p, layers.Train)
		x := input(t, b, "x", want.load("x"))
		out := must(l.Forward(b, x))
		lengths := input(t, b, "lengths", tensor.New(tensor.WithBacking([]int64{67, 13})))
		short := must(l.Attend(b, layers.AttentionInput{Query: x, Mask: mask.KeyLengths{Lengths: lengths}}))
		wrt, entries := G.Nodes{x}, []string{"out", "short", "dx"}
		for _, n := range b.Learnables() {
			wrt, entries = append(wrt, n), append(entries, "grad."+n.Name())
		}
		require.Len(t, b.Learnables(), len(want.entries("grad.")))
		grads := must(G.Backpropagate(G.Nodes{out}, G.Nodes{input(t, b, "dout", want.load("dout"))}, wrt))
		nodes := append(G.Nodes{out, short}, grads...)
		all := values(t, nodes...)
		if want.dt == tensor.Float64 { // Gorgonia's own machine computes the same
			tape := G.NewTapeMachine(b.Graph())
			defer tape.Close()
			require.NoError(t, tape.RunAll())
			for i, n := range nodes {
				require.Equal(t, all[i], golden.Floats(t, n.Value()), entries[i])
			}
		}
		for i, got := range all {
			if want.dt == tensor.Float64 {
				want.near(t, entries[i], nodes[i], got)
				continue
			}
			far := want.file.Float64(want.prefix + "far." + entries[i])[0] // of PyTorch's float32
			golden.Close(t, entries[i], want.file.Float64(want.prefix+entries[i]), got, max(2*far, 1e-5), 1e-5)
		}
	})
}

// Chunks of any lengths give the outputs of the whole sequence, with a cache whose size stays.
func TestLinearAttentionCache(t *testing.T) {
	eachLinear(t, func(t *testing.T, want torchCase, c layers.LinearAttentionConfig) {
		l, p := linearLayer(t, want, c)
		cache := must(l.NewCache(2))
		size := cache.Bytes()
		for range 2 {
			attendChunks(t, want, l.Attend, p, cache, want.file.Float64(want.prefix+"out"), 0, 1, 2, 1, 40, 9)
			require.Error(t, cache.Truncate(3))
			require.NoError(t, cache.Truncate(67))
			require.NoError(t, cache.Truncate(0))
			require.Equal(t, []int{0, size}, []int{cache.Len(), cache.Bytes()})
		}
		cache.Reset()
	})
}

// The implied weights give the outputs, are causal, and with Normalize sum to 1.
func TestLinearAttentionWeights(t *testing.T) {
	eachLinear(t, func(t *testing.T, want torchCase, c layers.LinearAttentionConfig) {
		c.Norm, c.Gate, c.ConvSize, c.NumKVHeads = false, false, 0, 0
		p := layers.NewParams(want.dt, 5)
		l := must(layers.NewLinearAttention(p.Scope(""), c))
		b := layers.NewBuild(p, layers.Eval)
		x := input(t, b, "x", want.load("x"))
		out := b.Of(l.Forward(b, x))
		weights := b.Of(b.LinearCalls("*")[0].Weights())
		node := func(name string) *G.Node {
			n, ok := p.Get(name)
			require.True(t, ok)
			return G.NewTensor(b.Graph(), want.dt, 2, G.WithShape(n.Shape()...), G.WithName("own "+name), G.WithValue(n))
		}
		v := b.Of(graph.SplitHeads(b.Of(graph.Linear(x, node("v_proj.weight"), nil)), 4))
		o := b.Of(graph.MergeHeads(b.Of(graph.MatMul(weights, v))))
		same := b.Of(graph.Linear(o, node("o_proj.weight"), nil))
		require.NoError(t, b.Err())
		require.Equal(t, tensor.Shape{2, 4, 67, 67}, weights.Shape())
		got := values(t, out, same, weights)
		golden.Close(t, "outputs", got[0], got[1], 2*want.tol, want.tol)
		for i, row := range slices.Collect(slices.Chunk(got[2], 67)) {
			sum := 0.0
			for s, w := range row {
				sum += w
				require.False(t, s > i%67 && w != 0, "query %d sees key %d", i%67, s)
			}
			if c.Normalize {
				require.InDelta(t, 1, sum, want.tol)
			}
		}
	})
}

// Initial decays are those of Mamba-2: time steps between 1e-3 and 0.1, rates below 16.
func TestLinearAttentionBegins(t *testing.T) {
	c := must(layers.LinearAttentionOf("gated_delta_net"))
	c.EmbedDim, c.NumHeads, c.HeadDim = 8, 512, 1
	p := layers.NewParams(tensor.Float64, 1)
	must(layers.NewLinearAttention(p.Scope(""), c))
	rates, _ := p.Get("A_log")
	bias, _ := p.Get("dt_bias")
	large, wide := 0, 0
	for i, v := range rates.Data().([]float64) {
		rate, step := math.Exp(v), math.Log1p(math.Exp(bias.Data().([]float64)[i]))
		require.True(t, rate >= 1e-4 && rate < 16, rate)
		require.True(t, step >= 1e-3*(1-1e-9) && step < 0.1*(1+1e-9), step)
		if rate > 8 {
			large++
		}
		if step > 1e-2 {
			wide++
		}
	}
	require.InDelta(t, 256, large, 60)
	require.InDelta(t, 256, wide, 60)
}

// deltaDecoder has three delta layers to one of full attention.
func deltaDecoder(t testing.TB) layers.DecoderConfig {
	c := tinyDecoder()
	form := must(layers.LinearAttentionOf("gated_delta_net"))
	c.Blocks = c.Blocks[:1:1]
	delta := c.Blocks[0]
	delta.Linear = &form
	c.Blocks = append(c.Blocks, delta)
	c.NumLayers, c.Pattern = 8, []int{1, 1, 1, 0}
	return c
}

// A decoder may have linear layers by its pattern: their sizes are those of the block's attention.
func TestDecoderOfLinearLayers(t *testing.T) {
	c := deltaDecoder(t)
	requireRoundTrip(t, c)
	m, p := newDecoder(t, tensor.Float64, c)
	c.Blocks[1].Linear.Gate = false
	require.Equal(t, deltaDecoder(t), m.Config(), "the model keeps its config")
	requireDeclared(t, p, layers.NewDecoder, m.Config())
	for i := range 8 {
		_, delta := p.Get(fmt.Sprintf("model.layers.%d.self_attn.A_log", i))
		require.Equal(t, i%4 < 3, delta, "layer %d", i)
	}
	b := layers.NewBuild(p, layers.Eval)
	must(m.Forward(b, input(t, b, "ids", sequences(2, 11))))
	calls := b.LinearCalls("model.layers.[0-3].self_attn")
	require.Len(t, calls, 3)
	require.Equal(t, "model.layers.2.self_attn", calls[2].Path)
	require.Equal(t, tensor.Shape{2, 6, 11, 11}, must(calls[2].Weights()).Shape())
	b = layers.NewBuild(p, layers.Eval)
	b.Mask(mask.Prefix{N: 1}, "*")
	_, err := m.Forward(b, input(t, b, "ids", sequences(2, 11)))
	require.ErrorContains(t, err, "layers: model.layers.0.self_attn: LinearAttention: change: got a mask or factors of heads "+
		"from the build, want none")
}

func TestLinearAttentionConfigs(t *testing.T) {
	full := layers.LinearAttentionConfig{EmbedDim: 8, NumHeads: 2, NumKVHeads: 1, HeadDim: 3, ValueDim: 5, ConvSize: 4,
		Features: layers.ELUFeatures, QKNorm: true, Scale: 2, Delta: true, Decay: layers.HeadDecay, Norm: true, NormEps: 1e-6,
		Gate: true, Normalize: true}
	requireNoZero(t, full)
	requireRoundTrip(t, full)
	valid := full
	valid.Normalize = false
	refuses(t, "LinearAttention", layers.NewLinearAttention, valid, refusal.Rows{
		{`{"embed_dim": 0}`, "EmbedDim: got 0, want at least 1"},
		{`{"head_dim": 0, "num_heads": 3, "num_kv_heads": 0}`,
			"NumHeads: got 3 for EmbedDim=8, want a divisor of it, or HeadDim"},
		{`{"num_kv_heads": 3}`, "NumKVHeads: got 3, want a divisor of NumHeads=2"},
		{`{"conv_size": 1}`, "ConvSize: got 1, want 0 or at least 2 tokens"},
		{`{"normalize": true}`, "Normalize: got true, want it with Features and without Delta: weights are above 0 then"},
		{`{"norm": false}`, "NormEps: got 1e-06 without Norm, want both"},
		{`{"decay": "all"}`, `Decay: got "all", want one of fixed, head, channel`},
		{`{"features": "relu"}`, `Features: got "relu", want one of elu`},
	})
	_, err := layers.LinearAttentionOf("mamba")
	require.EqualError(t, err, `layers: LinearAttention: form: got "mamba", want one of `+
		"delta_net, gated_delta_net, gla, linear, retention")
}

func TestLinearAttentionRefuses(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	l := must(layers.NewLinearAttention(p.Scope("a"), layers.LinearAttentionConfig{EmbedDim: 6, NumHeads: 2}))
	refusesInputs(t, p, l.Attend, "LinearAttention", []int{5, 6}, []wrongInput{
		{"query: shape (5, 7), want ([B,] T, 6)",
			func(b *layers.Build, in *layers.AttentionInput) { in.Query = b.Input("y", 5, 7) }},
		{"key: got another sequence than the query, want nil",
			func(b *layers.Build, in *layers.AttentionInput) { in.Key = b.Input("y", 5, 6) }},
		{"bias, positions: got one of them, want none: there are no scores",
			func(b *layers.Build, in *layers.AttentionInput) { in.Bias = in.Query }},
		{"mask: got mask.Causal, want mask.KeyLengths or nil: it is causal by itself",
			func(b *layers.Build, in *layers.AttentionInput) { in.Mask = mask.Causal{} }},
		{"start: got a cache or a start alone, want both or none",
			func(b *layers.Build, in *layers.AttentionInput) { in.Start = b.InputOf(tensor.Int, "start") }},
		{"cache: got *graph.KVCache, want a cache of its NewCache", func(b *layers.Build, in *layers.AttentionInput) {
			in.Start, in.Cache = b.InputOf(tensor.Int, "start"), new(graph.KVCache)
		}},
	})
}
