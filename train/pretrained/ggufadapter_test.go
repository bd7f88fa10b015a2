package pretrained_test

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"attention/internal/dense"
	"attention/internal/golden"
	"attention/layers"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// addAdapters adds adapters to a model, with values of the size of trained ones.
func addAdapters(t testing.TB, g *pretrained.GPT, c layers.LoRAConfig) {
	require.NoError(t, g.Params.AddLoRA(c))
	r := rand.New(rand.NewPCG(3, 4))
	for _, value := range g.Params.Own() {
		data := dense.Float64s(value)
		for i := range data {
			data[i] = float64(float32(0.3 * r.NormFloat64()))
		}
		dense.SetFloats(value, data)
	}
}

// For each family, llama.cpp applies a file of adapters to the base's file and gives the tuned model's scores. Without
// the adapters the scores differ a lot.
func TestGGUFAdapters(t *testing.T) {
	var jobs []job
	var models []*pretrained.GPT
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(decoders)), func(name string) bool {
		return name == "olmo2 tied" || name == "llama linear" // these families have the maps of others
	})
	for i, name := range names {
		dir := t.TempDir()
		g, j := decoder(t, decoders[name].config), job{IDs: []int64{3, 0, 12, 7, 7, 1, 9, 4}, Letters: true}
		j.Model, j.LoRA = filepath.Join(dir, "base.gguf"), filepath.Join(dir, "lora.gguf")
		require.NoError(t, g.WriteGGUF(j.Model, "f32"), name)
		addAdapters(t, g, layers.LoRAConfig{Rank: 3, Alpha: 2, RankStabilized: i%2 == 0})
		require.NoError(t, g.WriteGGUFAdapter(j.LoRA, "f32"), name)
		jobs, models = append(jobs, j), append(models, g)
	}
	without := jobs[0]
	without.LoRA = ""
	all := llamacpp(t, append(jobs, without)...)
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			requireScores(t, models[i], jobs[i], all[i], cmp.Or(decoders[name].bound, 5e-5))
		})
	}
	want := logProbs(run(t, models[0], without.IDs, 8), 8)
	require.Greater(t, furthest(t, want, all[len(names)].LogProbs), 0.5)
}

// GPT-2's packed map has one adapter. If only the queries have one, it adds nothing to keys and values.
func TestGGUFAdaptersOfPackedMaps(t *testing.T) {
	config := cases["gpt"].with(fields{"vocabulary": fields{"characters": "abcdefghijklm"}})
	gpt, err := pretrained.ReadGPT(write(t, config, caseTensors(t, "torch/gpt.safetensors", "gpt")))
	require.NoError(t, err)
	models := []*pretrained.GPT{gpt, decoder(t, decoders["gpt_neox"].config)}
	var jobs []job
	for i, targets := range [][]string{nil, {"q_proj", "up_proj"}} {
		dir := t.TempDir()
		j := job{IDs: []int64{3, 0, 12, 7, 7, 1, 9, 4}, Letters: true}
		j.Model, j.LoRA = filepath.Join(dir, "base.gguf"), filepath.Join(dir, "lora.gguf")
		require.NoError(t, models[i].WriteGGUF(j.Model, "f32"))
		addAdapters(t, models[i], layers.LoRAConfig{Rank: 4, Targets: targets})
		require.NoError(t, models[i].WriteGGUFAdapter(j.LoRA, "f32"))
		jobs = append(jobs, j)
	}
	for i, v := range llamacpp(t, jobs...) {
		requireScores(t, models[i], jobs[i], v, 2e-2) // llama.cpp's GELU is a table in half precision
	}
}

// llama.cpp gives our scores with adapters of an output head, and with several ranks and scales.
func TestGGUFAdaptersOfEveryForm(t *testing.T) {
	rows := []struct {
		name string
		lora layers.LoRAConfig
	}{
		{"llama", layers.LoRAConfig{Rank: 3, Targets: []string{"lm_head", "q_proj"}}},
		{"qwen3", layers.LoRAConfig{Targets: []string{"lm_head"}}},
		{"gpt_neox", layers.LoRAConfig{Rank: 2, Targets: []string{"lm_head", "k_proj"}}},
		{"olmo2", layers.LoRAConfig{Rank: 2, RankPattern: map[string]int{"q_proj": 5, "0.mlp": 1},
			AlphaPattern: map[string]float64{"v_proj": 3}}},
		{"llama", layers.LoRAConfig{Rank: 3, Targets: []string{"embed_tokens"}}},
		{"gpt_neox", layers.LoRAConfig{Rank: 3, Targets: []string{"embed_tokens", "lm_head"}}},
		{"gpt_neox", layers.LoRAConfig{RankStabilized: true, RankPattern: map[string]int{"q_proj": 2, "v_proj": 3}}},
	}
	var jobs []job
	var models []*pretrained.GPT
	for _, row := range rows {
		dir := t.TempDir()
		g, j := decoder(t, decoders[row.name].config), job{IDs: []int64{3, 0, 12, 7, 7, 1, 9, 4}, Letters: true}
		j.Model, j.LoRA = filepath.Join(dir, "base.gguf"), filepath.Join(dir, "lora.gguf")
		require.NoError(t, g.WriteGGUF(j.Model, "f32"), row.name)
		addAdapters(t, g, row.lora)
		require.NoError(t, g.WriteGGUFAdapter(j.LoRA, "f32"), row.name)
		jobs, models = append(jobs, j), append(models, g)
	}
	for i, v := range llamacpp(t, jobs...) {
		t.Run(rows[i].name, func(t *testing.T) {
			requireScores(t, models[i], jobs[i], v, cmp.Or(decoders[rows[i].name].bound, 5e-5))
		})
	}
}

// The error about adapters that the file cannot hold names the reason, and no file is written.
func TestGGUFAdaptersAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lora.gguf")
	g := decoder(t, of())
	require.ErrorContains(t, g.WriteGGUFAdapter(path, "f32"), "got a model without adapters, want one with")
	addAdapters(t, g, layers.LoRAConfig{Whole: []string{"model.norm"}})
	require.EqualError(t, g.WriteGGUFAdapter(path, "f32"), "pretrained: "+path+": parameter model.norm.weight: got one that "+
		"is trained whole beside adapters, which llama.cpp's form of adapters cannot hold, want the merged model")
	g = decoder(t, decoders["llama 3"].config)
	addAdapters(t, g, layers.LoRAConfig{Targets: []string{"embed_tokens"}})
	require.ErrorContains(t, g.WriteGGUFAdapter(path, "f32"), "parameter model.embed_tokens.weight: got an adapter of token "+
		"embeddings that are tied to the output head, which llama.cpp's form of adapters cannot hold, want the merged model")
	peft, err := golden.Path("peft", "adapters")
	require.NoError(t, err)
	g, err = pretrained.ReadGPT(filepath.Join(peft, "..", "bases", "llama_tied"))
	require.NoError(t, err)
	require.NoError(t, g.ReadAdapter(filepath.Join(peft, "head_tied")))
	require.ErrorContains(t, g.WriteGGUFAdapter(path, "f32"), "got an adapter of one of two tied embeddings")
	g = decoder(t, of(outBias))
	addAdapters(t, g, layers.LoRAConfig{})
	require.ErrorContains(t, g.WriteGGUFAdapter(path, "f32"), "biases: got some of the attention's output")
	require.NoFileExists(t, path)
}
