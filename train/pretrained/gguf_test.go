package pretrained_test

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// logProbs returns the rows of log-probabilities of logits.
func logProbs(logits []float64, rows int) (all [][]float64) {
	width := len(logits) / rows
	for i := range rows {
		row, sum := logits[i*width:][:width], 0.0
		for _, v := range row {
			sum += math.Exp(v)
		}
		to := make([]float64, width)
		for j, v := range row {
			to[j] = v - math.Log(sum)
		}
		all = append(all, to)
	}
	return all
}

// furthest returns the largest difference of two tables.
func furthest(t testing.TB, want, got [][]float64) (most float64) {
	require.Len(t, got, len(want))
	for i := range want {
		require.Len(t, got[i], len(want[i]), i)
		for j, v := range want[i] {
			most = max(most, math.Abs(v-got[i][j]))
		}
	}
	return most
}

// GPT-2's scores are ours, with biases and without, with a head of its own, with the exact GELU and with grouped heads.
func TestGGUFScores(t *testing.T) {
	var jobs []job
	var models []*pretrained.GPT
	names := slices.Sorted(maps.Keys(cases))
	for _, name := range names {
		g, err := pretrained.ReadGPT(write(t, cases[name].with(fields{"vocabulary": fields{"characters": "abcdefghijklm"}}),
			caseTensors(t, "torch/gpt.safetensors", name)))
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "model.gguf")
		require.NoError(t, g.WriteGGUF(path, "f32"))
		jobs = append(jobs, job{Model: path, IDs: []int64{3, 0, 12, 7, 7, 1, 9, 4}, Greedy: 3, Letters: true})
		models = append(models, g)
	}
	for i, v := range llamacpp(t, jobs...) {
		t.Run(names[i], func(t *testing.T) {
			requireScores(t, models[i], jobs[i], v, 2e-2) // its GELU is a table in half precision
		})
	}
}

// blocks returns the config of a block of Llama's kin, after changes.
func blocks(changes ...func(*layers.BlockConfig)) layers.BlockConfig {
	b := layers.BlockConfig{
		Attention: layers.AttentionConfig{EmbedDim: 12, NumHeads: 3, Mask: mask.Causal{},
			RoPE: &graph.RoPEConfig{Base: 500}},
		MLP:  layers.MLPConfig{DimFeedforward: 20, Activation: layers.SwiGLU},
		Norm: layers.NormConfig{Kind: layers.RMSNorm, Eps: 1e-5},
	}
	for _, change := range changes {
		change(&b)
	}
	return b
}

// The changes that make other families of it.
func grouped(b *layers.BlockConfig)  { b.Attention.NumHeads, b.Attention.NumKVHeads = 6, 2 }
func wide(b *layers.BlockConfig)     { b.Attention.NumKVHeads, b.Attention.HeadDim = 1, 8 }
func unturned(b *layers.BlockConfig) { b.Attention.RoPE = nil }
func qkvBias(b *layers.BlockConfig)  { b.Attention.QKVBias = true }
func outBias(b *layers.BlockConfig)  { b.Attention.QKVBias, b.Attention.OutBias = true, true }

func turned(r graph.RoPEConfig) func(*layers.BlockConfig) {
	return func(b *layers.BlockConfig) { b.Attention.RoPE = &r }
}

func window(n int) func(*layers.BlockConfig) {
	return func(b *layers.BlockConfig) { b.Attention.Mask = mask.SlidingWindow{Left: n - 1} }
}

func qkNorm(b *layers.BlockConfig) {
	b.Attention.QKNorm, b.Attention.QKNormEps = layers.RMSNorm, b.Norm.Eps
}

func olmo2(b *layers.BlockConfig) {
	qkNorm(b)
	b.Attention.QKNormWhole, b.NormPlacement = true, layers.OutputNorm
}

func gemma2(b *layers.BlockConfig) {
	b.NormPlacement, b.Norm.UnitOffset, b.MLP.Activation = layers.SandwichNorm, true, layers.GeGLUTanh
	b.Attention.Softcap = 5
}

func gemma3(b *layers.BlockConfig) {
	gemma2(b)
	qkNorm(b)
	b.Attention.Softcap, b.Attention.QKNormOffset = 0, true
}

func neoX(b *layers.BlockConfig) {
	b.Norm = layers.NormConfig{Bias: true}
	b.MLP.Activation, b.MLP.Bias, b.Attention.QKVBias, b.Attention.OutBias = layers.GELU, true, true, true
	b.Parallel = true
}

// decoders has a small model of each form, and the bound of its scores.
var decoders = map[string]struct {
	config layers.DecoderConfig
	bound  float64
}{
	"llama":        {config: layers.DecoderConfig{Blocks: []layers.BlockConfig{blocks(grouped)}}},
	"llama biased": {config: layers.DecoderConfig{Blocks: []layers.BlockConfig{blocks(wide, qkvBias)}}},
	"llama 3": {config: layers.DecoderConfig{TieWordEmbeddings: true, Blocks: []layers.BlockConfig{
		blocks(wide, turned(graph.RoPEConfig{Base: 500, Scaling: graph.Llama3Scaling, Factor: 32, OriginalLength: 32}))}}},
	"llama linear": {config: layers.DecoderConfig{Blocks: []layers.BlockConfig{
		blocks(turned(graph.RoPEConfig{Scaling: graph.LinearScaling, Factor: 3}))}}},
	"llama ntk": {config: layers.DecoderConfig{Blocks: []layers.BlockConfig{
		blocks(turned(graph.RoPEConfig{Scaling: graph.NTKScaling, Factor: 3}))}}},
	"llama interleaved": {config: layers.DecoderConfig{Blocks: []layers.BlockConfig{
		blocks(turned(graph.RoPEConfig{Interleaved: true}))}}},
	"mistral": {config: layers.DecoderConfig{Blocks: []layers.BlockConfig{blocks(grouped, window(12))}}},
	"smollm3": {config: layers.DecoderConfig{NumLayers: 5, Pattern: []int{0, 0, 0, 1}, TieWordEmbeddings: true,
		Blocks: []layers.BlockConfig{blocks(grouped), blocks(grouped, unturned)}}},
	"qwen2": {config: layers.DecoderConfig{TieWordEmbeddings: true, Blocks: []layers.BlockConfig{blocks(grouped, qkvBias)}}},
	"qwen2 yarn": {config: layers.DecoderConfig{Blocks: []layers.BlockConfig{blocks(qkvBias,
		turned(graph.RoPEConfig{Base: 100, Scaling: graph.YaRNScaling, Factor: 4, OriginalLength: 64}))}}},
	"qwen3":      {config: layers.DecoderConfig{Blocks: []layers.BlockConfig{blocks(wide, qkNorm)}}},
	"olmo2":      {config: layers.DecoderConfig{Blocks: []layers.BlockConfig{blocks(grouped, olmo2)}}},
	"olmo2 tied": {config: layers.DecoderConfig{TieWordEmbeddings: true, Blocks: []layers.BlockConfig{blocks(olmo2)}}},
	"gemma2": {bound: 2e-2, config: layers.DecoderConfig{NumLayers: 4, Pattern: []int{0, 1}, TieWordEmbeddings: true,
		EmbeddingScale: math.Sqrt(12), LogitSoftcap: 3,
		Blocks: []layers.BlockConfig{blocks(wide, gemma2, window(3)), blocks(wide, gemma2)}}},
	"gemma3": {bound: 2e-2, config: layers.DecoderConfig{NumLayers: 5, Pattern: []int{0, 0, 1}, TieWordEmbeddings: true,
		EmbeddingScale: math.Sqrt(12), Blocks: []layers.BlockConfig{blocks(wide, gemma3, window(3), turned(graph.RoPEConfig{Base: 100})),
			blocks(wide, gemma3, turned(graph.RoPEConfig{Scaling: graph.LinearScaling, Factor: 8}))}}},
	"gpt_neox": {bound: 2e-2, config: layers.DecoderConfig{Blocks: []layers.BlockConfig{
		blocks(neoX, turned(graph.RoPEConfig{Dims: 2}))}}},
	"gpt_neox serial": {bound: 2e-2, config: layers.DecoderConfig{TieWordEmbeddings: true, Blocks: []layers.BlockConfig{
		blocks(neoX, func(b *layers.BlockConfig) { b.Parallel, b.Attention.QKVBias = false, false })}}},
}

// decoder returns a model whose vocabulary is 13 letters, with weights of the size of trained ones.
func decoder(t testing.TB, c layers.DecoderConfig) *pretrained.GPT {
	c.VocabSize, c.ContextLength, c.NumLayers = 13, 16, cmp.Or(c.NumLayers, 2)
	p := layers.NewParams(tensor.Float64, 7)
	m, err := layers.NewDecoder(p.Scope(""), c)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	for _, value := range p.All() {
		for i := range value.Float64s() {
			value.Float64s()[i] = float64(float32(value.Float64s()[i] + 0.3*r.NormFloat64()))
		}
	}
	return &pretrained.GPT{Model: m, Params: p, Tokenizer: characters(t, []string{"abcdefghijklm"}), EndOfText: -1}
}

// Each family's scores are ours, and its greedy tokens where two are not as probable.
func TestGGUFFamilies(t *testing.T) {
	var jobs []job
	var models []*pretrained.GPT
	names := slices.Sorted(maps.Keys(decoders))
	for _, name := range names {
		g, path := decoder(t, decoders[name].config), filepath.Join(t.TempDir(), "model.gguf")
		require.NoError(t, g.WriteGGUF(path, "f32"), name)
		jobs = append(jobs, job{Model: path, IDs: []int64{3, 0, 12, 7, 7, 1, 9, 4}, Greedy: 4, Letters: true})
		models = append(models, g)
	}
	for i, v := range llamacpp(t, jobs...) {
		t.Run(names[i], func(t *testing.T) { requireScores(t, models[i], jobs[i], v, cmp.Or(decoders[names[i]].bound, 5e-5)) })
	}
}

// requireScores holds llama.cpp's scores to a model's.
func requireScores(t testing.TB, g *pretrained.GPT, j job, v verdict, bound float64) {
	fine(t, v)
	want := logProbs(run(t, g, j.IDs, len(j.IDs)), len(j.IDs))
	most := furthest(t, want, v.LogProbs)
	t.Logf("%.1e", most)
	require.Less(t, most, bound)
	require.Len(t, v.Greedy, j.Greedy)
	ids := slices.Clone(j.IDs)
	for _, id := range v.Greedy {
		rows := logProbs(run(t, g, ids, len(ids)), len(ids))
		row := rows[len(rows)-1]
		require.Greater(t, row[id], slices.Max(row)-2*bound)
		ids = append(ids, id)
	}
}

// llama.cpp cuts texts as GPT-2's tokenizer does, and as those of characters and bytes.
func TestGGUFTokens(t *testing.T) {
	texts := nasty(10_000)
	tokenizers := []text.Tokenizer{text.NewGPT2Tokenizer(), text.ByteTokenizer{}, characters(t, texts)}
	var jobs []job
	for _, of := range tokenizers {
		c := layers.GPTConfig{VocabSize: of.Len(), ContextLength: 4, EmbedDim: 4, NumLayers: 1, NumHeads: 1, Bias: true}
		p := layers.NewParams(tensor.Float32, 1)
		m, err := layers.NewGPT(p.Scope(""), c)
		require.NoError(t, err)
		end := -1
		if of.Config().Name == text.GPT2 {
			end = text.GPT2EndOfText
		}
		path := filepath.Join(t.TempDir(), "model.gguf")
		require.NoError(t, (&pretrained.GPT{Model: m, Params: p, Tokenizer: of, EndOfText: end}).WriteGGUF(path, "f16"))
		jobs = append(jobs, job{Model: path, Texts: texts})
	}
	for i, v := range llamacpp(t, jobs...) {
		t.Run(tokenizers[i].Config().Name, func(t *testing.T) {
			fine(t, v)
			for j, of := range texts {
				want, err := tokenizers[i].Encode(of)
				require.NoError(t, err)
				require.Equal(t, want, v.Tokens[j], "%q", of)
			}
		})
	}
}

// characters returns a tokenizer of the characters of texts.
func characters(t testing.TB, texts []string) text.Tokenizer {
	of, err := text.NewVocabulary(strings.Join(texts, ""))
	require.NoError(t, err)
	return of
}

// Matrices in fewer bits cost what their rounding costs, and that of the vectors that llama.cpp rounds as well before it
// multiplies: a number is off by at most 2⁻⁹ of itself in BF16, 2⁻¹² in F16, and 1/254 of its block's largest in Q8_0. In a model
// of three layers whose log-probabilities span 40, 1.7e-2, 2.5e-3 and 5.8e-2 come of it.
func TestGGUFTypes(t *testing.T) {
	c := layers.GPTConfig{VocabSize: 256, ContextLength: 32, EmbedDim: 96, NumLayers: 3, NumHeads: 4, DimFeedforward: 208,
		Bias: true, Activation: "gelu_new"}
	p := layers.NewParams(tensor.Float32, 5)
	m, err := layers.NewGPT(p.Scope(""), c)
	require.NoError(t, err)
	for name, value := range p.All() { // of the size of trained ones
		if !strings.Contains(name, "ln_") {
			for i := range value.Float32s() {
				value.Float32s()[i] *= 4
			}
		}
	}
	g := &pretrained.GPT{Model: m, Params: p, Tokenizer: text.ByteTokenizer{}, EndOfText: -1}
	ids := make([]int64, 24)
	for i := range ids {
		ids[i] = int64(i * i % 256)
	}
	var jobs []job
	for _, typ := range pretrained.GGUFTypes() {
		path := filepath.Join(t.TempDir(), "model.gguf")
		require.NoError(t, g.WriteGGUF(path, typ))
		jobs = append(jobs, job{Model: path, IDs: ids})
	}
	want := logProbs(run(t, g, ids, len(ids)), len(ids))
	t.Log("span", slices.Max(want[3])-slices.Min(want[3]))
	for i, v := range llamacpp(t, jobs...) {
		fine(t, v)
		most := furthest(t, want, v.LogProbs)
		t.Log(pretrained.GGUFTypes()[i], most)
		bounds := map[pretrained.GGUFType]float64{"f32": 2e-2, "f16": 2e-2, "bf16": 5e-2, "q8_0": 0.2}
		require.Less(t, most, bounds[pretrained.GGUFTypes()[i]])
	}
}
