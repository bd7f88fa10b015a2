package layers_test

import (
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
						return tensor.New(tensor.WithShape(file.Shape(name)...), tensor.WithBacking(file.Float32(name)))
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
				grads, err := G.Grad(loss, wrt...)
				require.NoError(t, err)
				got := values(t, append(G.Nodes{y}, grads...)...)
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

// New adapters change no bit, and a model with trained ones is the model of the merged weights.
func TestLoRAMerged(t *testing.T) {
	for name, c := range map[string]layers.DecoderConfig{
		"llama": tinyDecoder(),
		"gpt2": layers.GPTConfig{VocabSize: 13, ContextLength: 11, EmbedDim: 12, NumLayers: 2, NumHeads: 3, Bias: true,
			TieWordEmbeddings: true}.Decoder(),
	} {
		t.Run(name, func(t *testing.T) {
			m, p := newDecoder(t, tensor.Float64, c)
			before := logits(t, m)
			base := names(p)
			require.NoError(t, p.AddLoRA(layers.LoRAConfig{Rank: 2, Dropout: 0.5, Seed: 7}))
			require.Equal(t, before, logits(t, m), "B is 0")
			for name, v := range p.All() {
				if p.IsAdapter(name) {
					require.NoError(t, p.Set(name, p.Draw(layers.Normal(0, 0.3), v.Shape()...)))
				}
			}
			adapted := logits(t, m)
			require.NotEqual(t, before, adapted)

			merged, q := newDecoder(t, tensor.Float64, c)
			for _, name := range base {
				v, ok := p.Merged(name)
				require.True(t, ok)
				require.NoError(t, q.Set(name, v))
			}
			golden.Close(t, "merged", adapted, logits(t, merged), 1e-12, 1e-12)
		})
	}
}

func TestAddLoRA(t *testing.T) {
	c := tinyDecoder()
	c.NumLayers = 2
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
		{layers.LoRAConfig{Targets: []string{"lm_head"}},
			`Targets: got "lm_head", want a pattern of the 14 parameters' names`},
		{layers.LoRAConfig{Whole: []string{"embd"}},
			`Whole: got "embd", want a pattern of the 21 parameters' names, such as`},
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
	_, err = l.Forward(b, in.Query)
	require.NoError(t, err)
}
