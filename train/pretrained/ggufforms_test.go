package pretrained_test

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// blocks returns the config of a Llama-like block after changes.
func blocks(changes ...func(*layers.BlockConfig)) layers.BlockConfig {
	b := layers.BlockConfig{
		Attention: layers.AttentionConfig{EmbedDim: 24, NumHeads: 3, Mask: mask.Causal{},
			RoPE: &graph.RoPEConfig{Base: 500}},
		MLP:  layers.MLPConfig{DimFeedforward: 20, Activation: layers.SwiGLU},
		Norm: layers.NormConfig{Kind: layers.RMSNorm, Eps: 1e-5},
	}
	for _, change := range changes {
		change(&b)
	}
	return b
}

// of returns the config of a model of one kind of blocks.
func of(changes ...func(*layers.BlockConfig)) layers.DecoderConfig {
	return layers.DecoderConfig{Blocks: []layers.BlockConfig{blocks(changes...)}}
}

// The changes that turn such a block into that of another family.
func grouped(b *layers.BlockConfig)   { b.Attention.NumHeads, b.Attention.NumKVHeads = 6, 2 }
func wideHeads(b *layers.BlockConfig) { b.Attention.NumKVHeads, b.Attention.HeadDim = 1, 12 }
func unturned(b *layers.BlockConfig)  { b.Attention.RoPE = nil }
func qkvBias(b *layers.BlockConfig)   { b.Attention.QKVBias = true }
func outBias(b *layers.BlockConfig)   { b.Attention.QKVBias, b.Attention.OutBias = true, true }

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

var llama3 = graph.RoPEConfig{Base: 500, Scaling: graph.Llama3Scaling, Factor: 32, OriginalLength: 32}

// decoders holds a small model of each form, and the error bound of its scores.
var decoders = map[string]struct {
	config layers.DecoderConfig
	bound  float64
}{
	"llama":      {config: of(grouped)},
	"llama wide": {config: of(wideHeads)},
	"llama 3": {config: layers.DecoderConfig{TieWordEmbeddings: true, Blocks: []layers.BlockConfig{
		blocks(wideHeads, turned(llama3))}}},
	"llama linear":      {config: of(turned(graph.RoPEConfig{Scaling: graph.LinearScaling, Factor: 3}))},
	"llama ntk":         {config: of(turned(graph.RoPEConfig{Scaling: graph.NTKScaling, Factor: 3}))},
	"llama interleaved": {config: of(turned(graph.RoPEConfig{Interleaved: true}))},
	"mistral":           {config: of(grouped, window(12))},
	"smollm3": {config: layers.DecoderConfig{NumLayers: 5, Pattern: []int{0, 0, 0, 1}, TieWordEmbeddings: true,
		Blocks: []layers.BlockConfig{blocks(grouped), blocks(grouped, unturned)}}},
	"qwen2": {config: layers.DecoderConfig{TieWordEmbeddings: true, Blocks: of(grouped, qkvBias).Blocks}},
	"qwen2 yarn": {config: of(qkvBias,
		turned(graph.RoPEConfig{Base: 100, Scaling: graph.YaRNScaling, Factor: 4, OriginalLength: 64}))},
	"qwen3":      {config: of(wideHeads, qkNorm)},
	"olmo2":      {config: of(grouped, olmo2)},
	"olmo2 tied": {config: layers.DecoderConfig{TieWordEmbeddings: true, Blocks: []layers.BlockConfig{blocks(olmo2)}}},
	"gemma2": {bound: 2e-2, config: layers.DecoderConfig{NumLayers: 4, Pattern: []int{0, 1}, TieWordEmbeddings: true,
		EmbeddingScale: math.Sqrt(24), LogitSoftcap: 3,
		Blocks: []layers.BlockConfig{blocks(wideHeads, gemma2, window(3)), blocks(wideHeads, gemma2)}}},
	"gemma3": {bound: 2e-2, config: layers.DecoderConfig{NumLayers: 5, Pattern: []int{0, 0, 1}, TieWordEmbeddings: true,
		EmbeddingScale: math.Sqrt(24), Blocks: []layers.BlockConfig{
			blocks(wideHeads, gemma3, window(3), turned(graph.RoPEConfig{Base: 100})),
			blocks(wideHeads, gemma3, turned(graph.RoPEConfig{Scaling: graph.LinearScaling, Factor: 8}))}}},
	"gpt_neox": {bound: 2e-2, config: of(neoX, turned(graph.RoPEConfig{Dims: 2}))},
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

// For each family llama.cpp's scores equal ours, and so do its greedy tokens unless two are nearly equally probable.
func TestGGUFFamilies(t *testing.T) {
	var jobs []job
	var models []*pretrained.GPT
	names := slices.Sorted(maps.Keys(decoders))
	for _, name := range names {
		g, path := decoder(t, decoders[name].config), filepath.Join(t.TempDir(), "model.gguf")
		require.NoError(t, g.WriteGGUF(path, "f32"), name)
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		form := strings.Fields(name)[0]
		form = cmp.Or(map[string]string{"mistral": "llama", "gpt_neox": "gptneox"}[form], form)
		require.Contains(t, string(file[:100]), form+"\f") // and the length of the next key
		jobs = append(jobs, job{Model: path, IDs: []int64{3, 0, 12, 7, 7, 1, 9, 4}, Greedy: 4, Letters: true})
		models = append(models, g)
	}
	for i, v := range llamacpp(t, jobs...) {
		t.Run(names[i], func(t *testing.T) {
			requireScores(t, models[i], jobs[i], v, cmp.Or(decoders[names[i]].bound, 5e-5))
		})
	}
}

// familyFiles says what happens to the folder of each family: how many ids are compared, or why there is no file.
var familyFiles = map[string]struct {
	ids   int
	bound float64
	want  string
}{
	"gpt2": {ids: 7, bound: 2e-2}, "llama": {ids: 7}, "smollm2": {ids: 7}, "qwen2": {ids: 7}, "qwen3": {ids: 7},
	"olmo2": {ids: 7}, "gpt_neox": {ids: 7, bound: 2e-2}, "gpt_neox_serial": {ids: 7, bound: 2e-2},
	"mistral": {ids: 3}, "qwen2_window": {ids: 3}, // as many ids as the window has
	"llama3":         {want: "llama: biases: got some of the attention's output or the MLP, want none"},
	"smollm3":        {want: "smollm3: layers: got 3, want at least 4, the last of which has no positions"},
	"smollm3_window": {want: "smollm3: layers: got 3, want at least 4, the last of which has no positions"},
	"gemma2":         {want: "gemma2: scale of the scores: got 0.40824829046386"},
	"gemma3":         {want: "gemma3: scale of the scores: got 0.40824829046386"},
	"gemma3_types":   {want: "gemma3: scale of the scores: got 0.40824829046386"},
}

// A family's folder becomes a file with the same scores, or an error that names the unsupported property.
func TestGGUFFamilyFolders(t *testing.T) {
	require.Len(t, familyFiles, len(familyCases))
	var jobs []job
	var models []*pretrained.GPT
	var names []string
	for _, name := range familyCases {
		g, err := pretrained.ReadGPT(familyFolder(t, name))
		require.NoError(t, err)
		g.Tokenizer, g.EndOfText = characters(t, []string{"abcdefghijklmnopq"}), -1
		row, path := familyFiles[name], filepath.Join(t.TempDir(), "model.gguf")
		err = g.WriteGGUF(path, "f32")
		if row.want != "" {
			require.ErrorContains(t, err, row.want, name)
			continue
		}
		require.NoError(t, err, name)
		ids := golden.Load(t, "families/"+name+"/values.safetensors").Int64("ids")[:row.ids]
		jobs = append(jobs, job{Model: path, IDs: ids, Letters: true})
		models, names = append(models, g), append(names, name)
	}
	for i, v := range llamacpp(t, jobs...) {
		t.Run(names[i], func(t *testing.T) {
			requireScores(t, models[i], jobs[i], v, cmp.Or(familyFiles[names[i]].bound, 5e-5))
		})
	}
}
