package layers_test

import (
	"math"
	"slices"
	"testing"

	"attention/graph"
	"attention/graph/gradcheck"
	"attention/graph/mask"
	"attention/internal/golden"
	_ "attention/internal/testenv"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// randomAttention is any config and any call of it.
type randomAttention struct {
	config     layers.AttentionConfig
	mode       layers.Mode
	B, T, S    int // B of 0 is no batch; S of 0 is self-attention
	value      bool
	bias       []int
	padded     bool
	documents  bool
	positioned bool
}

func randomAttentions() *rapid.Generator[randomAttention] { return rapid.Custom(drawAttention) }

func drawAttention(t *rapid.T) (a randomAttention) {
	number := func(name string, from, to int) int { return rapid.IntRange(from, to).Draw(t, name) }
	flag := func(name string) bool { return rapid.Bool().Draw(t, name) }
	float := func(name string) float64 { return rapid.SampledFrom([]float64{0, 0.5, 1.7}).Draw(t, name) }
	a.B, a.T, a.S = number("B", 0, 3), number("T", 1, 9), number("S", 0, 9)
	latent := flag("Latent") // it attends from a sequence to itself
	if latent {
		a.S = 0
	}
	a.mode = rapid.SampledFrom([]layers.Mode{layers.Eval, layers.Train}).Draw(t, "mode")
	c := &a.config
	c.NumKVHeads = number("K", 1, 3)
	c.NumHeads = c.NumKVHeads * number("H/K", 1, 3)
	c.EmbedDim, c.OutDim = number("Width", 1, 6), number("Out", 0, 4)
	c.HeadDim, c.ValueDim = number("D", 1, 5), number("Dv", 0, 5)
	c.QKVBias, c.OutBias = flag("QKVBias"), flag("OutBias")
	c.Layout = rapid.SampledFrom(layers.AllLayouts).Draw(t, "Layout")
	if a.S > 0 {
		a.value = flag("value")
		if c.Layout != layers.GPT2 {
			c.KDim = number("KeyWidth", 1, 6)
			c.VDim = c.KDim
		}
	}
	c.Scale, c.Softcap = float("Scale"), float("Softcap")
	c.Align = rapid.SampledFrom([]mask.Alignment{mask.UpperLeft, mask.LowerRight}).Draw(t, "Align")
	if c.Align == mask.LowerRight {
		a.T = min(a.T, max(a.S, 1))
	}
	drawMask(t, &a)
	if c.HeadDim > 1 && flag("RoPE") {
		c.RoPE = &graph.RoPEConfig{Dims: c.HeadDim / 2 * 2, Interleaved: flag("Interleaved")}
		a.positioned = flag("positions")
	}
	c.ALiBi = flag("ALiBi")
	if flag("RelativeBias") {
		c.RelativeBias = &layers.RelativeBiasConfig{Buckets: 6, MaxDistance: 5, Unidirectional: flag("Unidirectional")}
	}
	c.QKNorm = rapid.SampledFrom([]layers.NormKind{"", layers.L2Norm, layers.RMSNorm}).Draw(t, "QKNorm")
	c.QKNormWhole = c.QKNorm != "" && flag("QKNormWhole")
	c.QKNormOffset = c.QKNorm != "" && flag("QKNormOffset")
	c.Sinks = flag("Sinks")
	c.Sigmoid = !c.Sinks && flag("Sigmoid")
	c.Forget = (a.S == 0 || c.Align == mask.LowerRight) && flag("Forget")
	c.Gate, c.AddBiasKV, c.AddZeroAttn = flag("Gate"), flag("AddBiasKV"), flag("AddZeroAttn")
	if c.Layout == layers.PerHead { // its heads have their own keys
		c.NumKVHeads = 0
	}
	c.ContextOnly = c.OutDim == 0 && !c.OutBias && flag("ContextOnly")
	if c.Layout == layers.Raw { // it has no other option
		c.OutDim, c.QKVBias, c.OutBias, c.ContextOnly = 0, false, false, true
	}
	if latent { // it has its own sizes and layout
		c.Latent = &layers.LatentConfig{QLoraRank: number("QLoraRank", 0, 3), KVLoraRank: number("KVLoraRank", 0, 4),
			QKNopeHeadDim: number("P", 1, 4), QKRopeHeadDim: 2 * number("R/2", 0, 2), VHeadDim: number("VHeadDim", 0, 4)}
		c.NumKVHeads, c.HeadDim, c.ValueDim, c.QKVBias, c.Layout = 0, 0, 0, false, layers.Llama
		c.QKNorm, c.QKNormWhole, c.QKNormOffset = "", false, false
		if c.RoPE != nil {
			c.RoPE = &graph.RoPEConfig{Base: 50}
		}
	}
	c.Dropout, c.ContextDropout, c.OutDropout = float("Dropout")/2, float("ContextDropout")/2, float("OutDropout")/2
	return a
}

// drawMask draws a mask and a bias for the call.
func drawMask(t *rapid.T, a *randomAttention) {
	align := a.config.Align
	a.config.Mask = rapid.SampledFrom([]mask.Mask{nil, mask.Causal{Align: align},
		mask.SlidingWindow{Left: 2, Right: 1, Align: align},
		mask.Or(mask.Causal{Align: align}, mask.Prefix{N: 2}), mask.Not(mask.Prefix{N: 1})}).Draw(t, "Mask")
	a.padded = a.B > 0 && rapid.Bool().Draw(t, "padded")
	a.documents = rapid.Bool().Draw(t, "documents")
	heads, keys := a.config.NumHeads, max(a.S, 1)
	if a.S == 0 {
		keys = a.T
	}
	a.bias = rapid.SampledFrom([][]int{nil, {keys}, {a.T, 1}, {heads, a.T, keys}, {heads, 1, 1}}).Draw(t, "bias")
}

// call adds the inputs to a graph: the differentiable ones are returned too.
func (a randomAttention) call(t require.TestingT, b *layers.Build) (in layers.AttentionInput, wrt G.Nodes) {
	dt, lead := b.Params().Dtype(), []int{a.B}
	if a.B == 0 {
		lead = nil
	}
	node := func(name string, v *tensor.Dense) *G.Node {
		n := b.InputOf(v.Dtype(), name, v.Shape()...)
		require.NoError(t, b.Err())
		require.NoError(t, G.Let(n, v))
		return n
	}
	float := func(name string, shape ...int) *G.Node {
		n := node(name, golden.Numbers(dt, shape...))
		wrt = append(wrt, n)
		return n
	}
	integers := func(name string, factor, modulus int, shape ...int) *G.Node {
		ids := make([]int, tensor.Shape(shape).TotalSize())
		for i := range ids {
			ids[i] = i * factor % modulus
		}
		return node(name, of(ids, shape...))
	}
	c, S := a.config, a.S
	in.Query = float("query", append(lead, a.T, c.EmbedDim)...)
	if S == 0 {
		S = a.T
	} else {
		width := c.KDim
		if width == 0 {
			width = c.EmbedDim
		}
		in.Key = float("key", append(lead, S, width)...)
		if a.value {
			in.Value = float("value", append(lead, S, width)...)
		}
	}
	if a.bias != nil {
		in.Bias = float("bias", a.bias...)
	}
	if a.positioned {
		in.Positions = integers("positions", 5, 7, append(lead, a.T)...)
	}
	in.Mask = mask.All{}
	if a.padded {
		in.Mask = mask.And(in.Mask, mask.KeyLengths{Lengths: integers("lengths", 3, S+1, a.B)})
	}
	if a.documents {
		in.Mask = mask.And(in.Mask, mask.Segments{Query: integers("query segments", 1, 2, append(lead, a.T)...),
			Key: integers("key segments", 2, 3, append(lead, S)...)})
	}
	return in, wrt
}

// build builds one of the two forms in a graph of its own.
func (a randomAttention) build(t require.TestingT, p *layers.Params, l *layers.Attention, withWeights bool,
) (out *G.Node, wrt G.Nodes) {
	b := layers.NewBuild(p, a.mode)
	in, wrt := a.call(t, b)
	out, err := l.Attend(b, in)
	if withWeights {
		b = layers.NewBuild(p, a.mode)
		in, wrt = a.call(t, b)
		out, _, err = attendObserved(b, l, in)
	}
	require.NoError(t, err)
	if key := b.DropoutKey(); key != nil {
		require.NoError(t, G.Let(key, G.NewI64(7)))
	}
	return out, append(wrt, b.Learnables()...)
}

// layer has parameters without zeros.
func (a randomAttention) layer(t require.TestingT, dt tensor.Dtype) (*layers.Params, *layers.Attention) {
	p := layers.NewParams(dt, 1)
	l := must(layers.NewAttention(p.Scope(""), a.config))
	for name, v := range p.All() {
		require.NoError(t, p.Set(name, golden.Numbers(dt, v.Shape()...)))
	}
	return p, l
}

// For any config, the fused form has the output of the observed one, and its gradients.
func TestBothFormsOfAnyAttentionAgree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := randomAttentions().Draw(rt, "attention")
		p, l := a.layer(rt, tensor.Float64)
		both := func(withWeights bool) [][]float64 {
			out, wrt := a.build(rt, p, l, withWeights)
			g := G.NewTensor(out.Graph(), tensor.Float64, out.Dims(), G.WithShape(out.Shape()...), G.WithName("dout"),
				G.WithValue(golden.Numbers(tensor.Float64, out.Shape()...)))
			return values(t, append(G.Nodes{out}, must(G.Backpropagate(G.Nodes{out}, G.Nodes{g}, wrt))...)...)
		}
		fused, composed := both(false), both(true)
		require.Len(rt, fused, len(composed))
		for i := range composed {
			require.False(rt, slices.ContainsFunc(composed[i], math.IsNaN))
			require.InDeltaSlice(rt, composed[i], fused[i], 1e-10)
		}
	})
}

// For a few configs, the gradients equal finite differences.
func TestGradientsOfAnyAttention(t *testing.T) {
	for seed := range 5 {
		a := randomAttentions().Example(seed)
		p, l := a.layer(t, tensor.Float64)
		for _, withWeights := range []bool{false, true} {
			out, wrt := a.build(t, p, l, withWeights)
			report := must(gradcheck.Check(out, wrt, gradcheck.Config{Mode: gradcheck.OneDirection}))
			require.True(t, report.OK(), "%+v: %v", a, report)
		}
	}
}
