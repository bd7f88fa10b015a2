package layers_test

import (
	"cmp"
	"math"
	"strings"
	"testing"

	"attention/graph"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Outputs and the gradients of adapters and input, as PyTorch has them, of all weights and of some.
func TestLoRAAsPyTorch(t *testing.T) {
	file := golden.Load(t, "torch/lora.safetensors")
	for _, c := range []struct {
		name string
		mlp  layers.MLPConfig
		lora layers.LoRAConfig
	}{
		{"llama", layers.MLPConfig{Activation: layers.SwiGLU, Layout: layers.Llama}, layers.LoRAConfig{Rank: 3, Alpha: 6}},
		{"gpt2", layers.MLPConfig{Activation: layers.GELUTanh, Layout: layers.GPT2, Bias: true},
			layers.LoRAConfig{Rank: 2, RankStabilized: true, Targets: []string{"c_fc"}}},
	} {
		for label, dt := range map[string]tensor.Dtype{"float64": tensor.Float64, "float32": tensor.Float32} {
			t.Run(c.name+"."+label, func(t *testing.T) {
				get := func(name string) *tensor.Dense {
					name = c.name + "." + label + "." + name
					if dt == tensor.Float32 {
						return of(file.Float32(name), file.Shape(name)...)
					}
					return golden.Dense(dt, file.Float64(name), file.Shape(name)...)
				}
				p := layers.NewParams(dt, 1)
				c.mlp.EmbedDim, c.mlp.DimFeedforward = 5, 7
				mlp := must(layers.NewMLP(p.Scope(""), c.mlp))
				require.NoError(t, p.AddLoRA(c.lora))
				for name := range p.All() {
					require.NoError(t, p.Set(name, get("param."+name)))
				}
				b := layers.NewBuild(p, layers.Train)
				x := input(t, b, "x", get("x"))
				y := b.Of(mlp.Forward(b, x))
				loss := b.Of(G.Sum(b.Of(graph.Mul(y, input(t, b, "up", get("up"))))))
				require.NoError(t, b.Err())
				wrt := append(G.Nodes{x}, b.Learnables()...)
				require.Len(t, wrt, 1+strings.Count(strings.Join(names(p), " "), "lora"))
				got := values(t, append(G.Nodes{y}, must(G.Grad(loss, wrt...))...)...)
				tol := map[tensor.Dtype]float64{tensor.Float64: 1e-12, tensor.Float32: 1e-5}[dt]
				golden.Close(t, "y", golden.Floats(t, get("y")), got[0], tol, tol)
				for i, n := range wrt {
					golden.Close(t, n.Name(), golden.Floats(t, get("grad."+n.Name())), got[1+i], tol, tol)
				}
			})
		}
	}
}

// logits runs a decoder on a few tokens.
func logits(t *testing.T, m *layers.Decoder) []float64 {
	b := layers.NewBuild(m.Params(), layers.Eval)
	out := b.Of(m.Forward(b, input(t, b, "ids", intVector(3, 1, 4, 1, 5))))
	require.NoError(t, b.Err())
	return values(t, out)[0]
}

// tunedLoss returns a decoder's loss on a few tokens and its gradients by the names of the parameters.
func tunedLoss(t *testing.T, m *layers.Decoder) (loss float64, gradients map[string]*tensor.Dense) {
	b := layers.NewBuild(m.Params(), layers.Train)
	node := b.Of(m.Loss(b, input(t, b, "ids", intVector(3, 1, 4, 1, 5)), input(t, b, "targets", intVector(1, 4, 1, 5, 9))))
	require.NoError(t, b.Err())
	wrt := b.Learnables()
	all := values(t, append(G.Nodes{b.Of(G.Reshape(node, tensor.Shape{1}))}, must(G.Grad(node, wrt...))...)...)
	gradients = map[string]*tensor.Dense{}
	for i, n := range wrt {
		gradients[n.Name()] = golden.Dense(tensor.Float64, all[1+i], n.Shape()...)
	}
	return all[0][0], gradients
}

// New adapters change no bit. A model with trained ones is the model of the merged weights W + s·B·A: its logits, its
// loss and, by the chain rule, its gradients, s·dW·Aᵀ by B and s·Bᵀ·dW by A.
func TestLoRAMerged(t *testing.T) {
	untied, gpt := tinyDecoder(), layers.GPTConfig{VocabSize: 13, ContextLength: 11, EmbedDim: 12, NumLayers: 2, NumHeads: 3,
		Bias: true, TieWordEmbeddings: true}.Decoder()
	tied, scaled := untied, untied
	untied.TieWordEmbeddings, tied.TieWordEmbeddings = false, true
	scaled.EmbeddingScale, scaled.LogitScale, scaled.LogitSoftcap = 3, 0.5, 20
	for name, c := range map[string]struct {
		model layers.DecoderConfig
		lora  layers.LoRAConfig
		head  string // a weight that has an adapter
	}{
		"llama":     {untied, layers.LoRAConfig{Rank: 2}, "model.layers.0.self_attn.q_proj.weight"},
		"gpt2":      {gpt, layers.LoRAConfig{Rank: 2, RankStabilized: true}, "transformer.h.0.attn.c_attn.weight"},
		"head":      {untied, layers.LoRAConfig{Rank: 2, Targets: []string{"lm_head", "v_proj"}}, "lm_head.weight"},
		"table":     {untied, layers.LoRAConfig{Rank: 3, Targets: []string{"embed_tokens"}}, "model.embed_tokens.weight"},
		"both":      {scaled, layers.LoRAConfig{Targets: []string{"embed_tokens", "lm_head"}}, "model.embed_tokens.weight"},
		"tied":      {tied, layers.LoRAConfig{Rank: 2, Targets: []string{"embed_tokens", "q_proj"}}, "model.embed_tokens.weight"},
		"tied gpt2": {gpt, layers.LoRAConfig{Rank: 2, Targets: []string{"wte"}}, "transformer.wte.weight"},
		"some ranks": {untied, layers.LoRAConfig{RankPattern: map[string]int{"*_proj": 3, "self_attn.q_proj": 1},
			AlphaPattern: map[string]float64{"q_proj": 5}}, "model.layers.0.self_attn.q_proj.weight"},
	} {
		t.Run(name, func(t *testing.T) {
			m, p := newDecoder(t, tensor.Float64, c.model)
			before := logits(t, m)
			base := names(p)
			c.lora.Seed = 7
			require.NoError(t, p.AddLoRA(c.lora))
			require.Equal(t, before, logits(t, m), "B is 0")
			for name, v := range p.All() {
				if p.IsAdapter(name) {
					require.NoError(t, p.Set(name, p.Draw(layers.Normal(0, 0.3), v.Shape()...)))
				}
			}
			adapted := logits(t, m)
			require.NotEqual(t, before, adapted)

			merged, q := newDecoder(t, tensor.Float64, c.model)
			for _, name := range base {
				v, ok := p.Merged(name)
				require.True(t, ok)
				require.NoError(t, q.Set(name, v))
			}
			golden.Close(t, "merged", adapted, logits(t, merged), 1e-12, 1e-12)

			got, gradients := tunedLoss(t, m)
			want, whole := tunedLoss(t, merged)
			require.InDelta(t, want, got, 1e-12)
			require.Contains(t, gradients, strings.TrimSuffix(c.head, "weight")+"lora_B.weight")
			for name, byB := range gradients {
				stem, ok := strings.CutSuffix(name, "lora_B.weight")
				if !ok {
					continue
				}
				a, _ := p.Get(stem + "lora_A.weight")
				b, _ := p.Get(name)
				dW := whole[stem+"weight"]
				if strings.Contains(name, ".h.") { // GPT-2's are stored (in, out)
					require.NoError(t, dW.T())
				}
				byA := gradients[stem+"lora_A.weight"]
				scale := loraScale(c.lora, a.Shape()[0], strings.Contains(name, "q_proj"))
				requireScaled(t, name, must(dW.MatMul(must(a.SafeT()))), scale, byB)
				requireScaled(t, stem+"lora_A.weight", must(must(b.SafeT()).MatMul(dW)), scale, byA)
			}
		})
	}
}

// loraScale returns what an adapter is multiplied by, with another Alpha for queries in the case that has one.
func loraScale(c layers.LoRAConfig, rank int, query bool) float64 {
	alpha := cmp.Or(c.Alpha, 8)
	if query {
		alpha = cmp.Or(c.AlphaPattern["q_proj"], alpha)
	}
	if c.RankStabilized {
		return alpha / math.Sqrt(float64(rank))
	}
	return alpha / float64(rank)
}

// requireScaled requires that a gradient is a matrix times a number.
func requireScaled(t *testing.T, name string, want *tensor.Dense, scale float64, got *tensor.Dense) {
	golden.Close(t, name, must(want.MulScalar(scale, true)).Float64s(), got.Float64s(), 1e-12, 1e-10)
}

func TestAddLoRA(t *testing.T) {
	c := tinyDecoder()
	c.NumLayers, c.TieWordEmbeddings = 2, true
	_, p := newDecoder(t, tensor.Float32, c)
	base := p.Len()
	_, has := p.LoRA()
	require.False(t, has)
	for _, row := range []struct {
		config layers.LoRAConfig
		want   string
	}{
		{layers.LoRAConfig{Rank: -1}, "Rank: got -1, want at least 0"},
		{layers.LoRAConfig{Alpha: math.Inf(1)}, "Alpha: got +Inf, want a finite number of at least 0"},
		{layers.LoRAConfig{Dropout: 1}, "Dropout: got 1, want a number from 0 to below 1"},
		{layers.LoRAConfig{Targets: []string{"q_proj", layers.AllLinear}},
			"Targets: got all-linear among 2 patterns, want it alone"},
		{layers.LoRAConfig{Targets: []string{"lm_haed"}},
			`Targets: got "lm_haed", want a pattern of the 15 parameters' names`},
		{layers.LoRAConfig{Targets: []string{"q_proj", "lm_head"}},
			`Targets: got "lm_head", which is tied to model.embed_tokens.weight in this model, want the name of that`},
		{layers.LoRAConfig{Whole: []string{"lm_head.weight"}},
			`Whole: got "lm_head.weight", which is tied to model.embed_tokens.weight in this model`},
		{layers.LoRAConfig{RankPattern: map[string]int{"q_proj": 0}}, `RankPattern: got 0 of "q_proj", want 1 to 2147483647`},
		{layers.LoRAConfig{AlphaPattern: map[string]float64{"q_proj": math.NaN()}},
			`AlphaPattern: got NaN of "q_proj", want a finite number above 0`},
		{layers.LoRAConfig{Targets: []string{"q_proj"}, RankPattern: map[string]int{"v_proj": 2}},
			`RankPattern: got "v_proj", want a pattern of the 2 parameters' names`},
		{layers.LoRAConfig{Whole: []string{"embd"}},
			`Whole: got "embd", want a pattern of the 20 parameters' names, such as`},
	} {
		require.ErrorContains(t, p.AddLoRA(row.config), "layers: LoRA: "+row.want)
		require.Equal(t, base, p.Len())
		require.Zero(t, p.CountFrozen())
	}
	require.NoError(t, p.AddLoRA(layers.LoRAConfig{Targets: []string{"q_proj", "layers.1.mlp"}, Whole: []string{"norm"}}))
	got, has := p.LoRA()
	require.True(t, has)
	require.Equal(t, []float64{8, 8}, []float64{float64(got.Rank), got.Alpha})
	var trained []string
	for name := range p.Shapes() {
		require.True(t, p.Frozen(name) || p.IsAdapter(name) || name == "model.norm.weight", name)
		if !p.Frozen(name) {
			trained = append(trained, name)
		}
	}
	require.Equal(t, "model.norm.weight "+
		"model.layers.0.self_attn.q_proj.lora_A.weight model.layers.0.self_attn.q_proj.lora_B.weight "+
		"model.layers.1.self_attn.q_proj.lora_A.weight model.layers.1.self_attn.q_proj.lora_B.weight "+
		"model.layers.1.mlp.gate_proj.lora_A.weight model.layers.1.mlp.gate_proj.lora_B.weight "+
		"model.layers.1.mlp.up_proj.lora_A.weight model.layers.1.mlp.up_proj.lora_B.weight "+
		"model.layers.1.mlp.down_proj.lora_A.weight model.layers.1.mlp.down_proj.lora_B.weight", strings.Join(trained, " "))
	require.EqualError(t, p.AddLoRA(layers.LoRAConfig{}), "layers: LoRA: got adapters of rank 8 already, want none")

	norms := layers.NewParams(tensor.Float32, 1)
	must(layers.NewNorm(norms.Scope(""), layers.NormConfig{EmbedDim: 3}))
	require.EqualError(t, norms.AddLoRA(layers.LoRAConfig{}),
		"layers: LoRA: Targets: got parameters without a linear map, want some with one")
}

// Packed weights serve one sequence: their adapter has no parts.
func TestLoRAOfPackedWeights(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	l := must(layers.NewAttention(p.Scope("attn"), layers.AttentionConfig{EmbedDim: 4, NumHeads: 2, Layout: layers.Torch}))
	require.NoError(t, p.AddLoRA(layers.LoRAConfig{Rank: 1}))
	b := layers.NewBuild(p, layers.Eval)
	in := layers.AttentionInput{Query: b.Input("x", 3, 4), Key: b.Input("y", 5, 4)}
	_, err := l.Attend(b, in)
	require.ErrorContains(t, err, "got an adapter of a packed weight for several sequences, want one sequence")
	must(l.Forward(b, in.Query))
}
