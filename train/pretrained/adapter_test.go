package pretrained_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/internal/dense"
	"attention/internal/golden"
	"attention/internal/safetensors"
	"attention/layers"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// tuned returns the model of a case with adapters whose values are not 0.
func tuned(t *testing.T, name string, c layers.LoRAConfig) *pretrained.GPT {
	g, err := pretrained.ReadGPT(familyFolder(t, name))
	require.NoError(t, err)
	require.NoError(t, g.Params.AddLoRA(c))
	g.Params.Widen()
	for _, value := range g.Params.Own() {
		data := dense.Float64s(value)
		for i := range data {
			data[i] += float64(i*i%7)/16 - 0.1
		}
		dense.SetFloats(value, data)
	}
	return g
}

// byName returns the tensors' numbers by name.
func byName(all []safetensors.Tensor) map[string][]float64 {
	numbers := map[string][]float64{}
	for _, x := range all {
		numbers[x.Name] = safetensors.Floats[float64](x.Data)
	}
	return numbers
}

// An adapter's files use PEFT's names. W + s·B·A, computed from them and the base's files, is the merged folder, and a
// base that reads them is the tuned model.
func TestAdapters(t *testing.T) {
	for _, c := range []struct {
		name, first string
		transposed  bool
		lora        layers.LoRAConfig
		targets     []any
		whole       any
	}{
		{"llama", "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", false,
			layers.LoRAConfig{Rank: 2, Alpha: 6, Targets: []string{"q_proj", "v_proj"}, Whole: []string{"model.norm"}},
			[]any{"q_proj", "v_proj"}, []any{"model.norm"}},
		{"qwen3", "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", false,
			layers.LoRAConfig{Rank: 3, Targets: []string{"layers.0.self_attn.q_proj"}}, []any{"model.layers.0.self_attn.q_proj"}, nil},
		{"gpt2", "base_model.model.transformer.h.0.attn.c_attn.lora_A.weight", true,
			layers.LoRAConfig{Rank: 4, Alpha: 8, RankStabilized: true}, []any{"c_attn", "c_fc", "c_proj"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, dir, merged := tuned(t, c.name, c.lora), t.TempDir(), t.TempDir()
			_, err := g.WriteAdapter(dir, "the/base")
			require.NoError(t, err)
			_, err = g.Write(merged, pretrained.WriteConfig{Format: pretrained.HuggingFace, Dtype: "float64"})
			require.NoError(t, err)

			var said map[string]any
			text, err := os.ReadFile(filepath.Join(dir, "adapter_config.json"))
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, &said))
			require.Equal(t, c.targets, said["target_modules"])
			require.Equal(t, c.whole, said["modules_to_save"])
			require.Equal(t, c.transposed, said["fan_in_fan_out"])
			require.Equal(t, "the/base", said["base_model_name_or_path"])

			f, err := safetensors.ReadFile(filepath.Join(dir, "adapter_model.safetensors"))
			require.NoError(t, err)
			_, ok := f.Get(c.first)
			require.True(t, ok)
			base, got := tensorsIn(t, familyFolder(t, c.name)), byName(tensorsIn(t, merged))
			scale := said["lora_alpha"].(float64) / said["r"].(float64)
			if c.lora.RankStabilized {
				scale = said["lora_alpha"].(float64) / math.Sqrt(said["r"].(float64))
			}
			for _, x := range slices.DeleteFunc(base, func(x safetensors.Tensor) bool { return isBuffer(x.Name) }) {
				want := plainMerge(f, x, scale, c.transposed)
				golden.Close(t, x.Name, want, got[x.Name], 1e-6, 1e-6)
			}

			again, err := pretrained.ReadGPT(familyFolder(t, c.name))
			require.NoError(t, err)
			ids := []int64{3, 1, 4, 1, 5}
			before := run(t, again, ids, 5)
			require.NoError(t, again.ReadAdapter(dir))
			want := run(t, g, ids, 5)
			require.Equal(t, want, run(t, again, ids, 5))
			require.NotEqual(t, want, before)
			whole, err := pretrained.ReadGPT(merged)
			require.NoError(t, err)
			golden.Close(t, "logits", want, run(t, whole, ids, 5), 1e-5, 1e-5)
		})
	}
}

// GPT-NeoX's folder has one map for queries, keys and values. Their adapters are written and read as one adapter of
// this map, whose rank is the sum of the three ranks.
func TestAdaptersOfFusedMaps(t *testing.T) {
	for _, c := range []struct {
		lora        layers.LoRAConfig
		rank, alpha float64
		targets     []any
	}{
		{layers.LoRAConfig{Rank: 2, Alpha: 6}, 6, 18, []any{"dense", "dense_4h_to_h", "dense_h_to_4h", "query_key_value"}},
		{layers.LoRAConfig{Rank: 2, Alpha: 6, RankStabilized: true, Targets: []string{"k_proj", "q_proj", "up_proj"}}, 4,
			6 * math.Sqrt(2), []any{"dense_h_to_4h", "query_key_value"}},
		{layers.LoRAConfig{Rank: 3, Targets: []string{"v_proj"}}, 3, 8, []any{"query_key_value"}},
	} {
		g, dir, merged := tuned(t, "gpt_neox", c.lora), t.TempDir(), t.TempDir()
		_, err := g.WriteAdapter(dir, "base")
		require.NoError(t, err)
		_, err = g.Write(merged, pretrained.WriteConfig{Format: pretrained.HuggingFace, Dtype: "float64"})
		require.NoError(t, err)
		var said map[string]any
		text, err := os.ReadFile(filepath.Join(dir, "adapter_config.json"))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &said))
		require.Equal(t, []any{c.rank, c.targets}, []any{said["r"], said["target_modules"]})
		require.InDelta(t, c.alpha, said["lora_alpha"], 1e-12)
		f, err := safetensors.ReadFile(filepath.Join(dir, "adapter_model.safetensors"))
		require.NoError(t, err)
		scale := c.alpha / c.rank
		if c.lora.RankStabilized {
			scale = c.alpha / math.Sqrt(c.rank)
		}
		got := byName(tensorsIn(t, merged))
		for _, x := range tensorsIn(t, familyFolder(t, "gpt_neox")) {
			if !isBuffer(x.Name) {
				golden.Close(t, x.Name, plainMerge(f, x, scale, false), got[x.Name], 1e-6, 1e-6)
			}
		}
		again, err := pretrained.ReadGPT(familyFolder(t, "gpt_neox"))
		require.NoError(t, err)
		require.NoError(t, again.ReadAdapter(dir))
		ids := []int64{3, 1, 4, 1, 5}
		golden.Close(t, "logits", run(t, g, ids, 5), run(t, again, ids, 5), 1e-5, 1e-5)
	}
}

// plainMerge returns a tensor of a base after adding or replacing what an adapter's file has for it.
func plainMerge(f *safetensors.File, x safetensors.Tensor, scale float64, transposed bool) []float64 {
	at := "base_model.model." + strings.TrimSuffix(x.Name, ".weight")
	if own, ok := f.Get(at + ".weight"); ok {
		return safetensors.Floats[float64](own.Data)
	}
	sum := slices.Clone(safetensors.Floats[float64](x.Data))
	a, ok := f.Get(at + ".lora_A.weight")
	b, _ := f.Get(at + ".lora_B.weight")
	if !ok {
		return sum
	}
	A, B := safetensors.Floats[float64](a.Data), safetensors.Floats[float64](b.Data)
	out, r, in := b.Shape[0], b.Shape[1], a.Shape[1]
	for o := range out {
		for i := range in {
			to := o*in + i
			if transposed {
				to = i*out + o
			}
			for k := range r {
				sum[to] += scale * B[o*r+k] * A[k*in+i]
			}
		}
	}
	return sum
}

// The error about an unsupported adapter, or an adapter of another model, names the problem.
func TestAdaptersAreRefused(t *testing.T) {
	from := t.TempDir()
	_, err := tuned(t, "llama", layers.LoRAConfig{Rank: 2}).WriteAdapter(from, "base")
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(from, "adapter_config.json"))
	require.NoError(t, err)
	for _, row := range []struct{ name, model, old, new, want string }{
		{"what peft writes without a meaning", "llama", `"r": 2`, `"r": 2, "use_dora": false, "rank_pattern": {}, ` +
			`"alpha_pattern": {}, "layers_to_transform": null, "exclude_modules": [], "megatron_core": "megatron.core", "init_lora_weights": "gaussian"`, ""},
		{"a part of the model", "llama", `"r": 2`, `"r": 2, "init_lora_weights": "pissa_niter_16"`,
			`init_lora_weights: got "pissa_niter_16", want true, false or gaussian: it changes the model too`},
		{"DoRA", "llama", `"r": 2`, `"r": 2, "use_dora": true`, "use_dora: got true, want null or false"},
		{"LoRA-GA", "llama", `"r": 2`, `"r": 2, "init_lora_weights": "lora_ga"`, `init_lora_weights: got "lora_ga"`},
		{"other ranks of modules", "llama", `"r": 2`, `"r": 2, "rank_pattern": {"q_proj": 4}`, "want F32 (4, 12)"},
		{"half a rank", "llama", `"r": 2`, `"r": 2, "rank_pattern": {"v_proj": 2.5}`,
			`rank_pattern: got 2.5 of "v_proj", want a whole number`},
		{"no pattern", "llama", `"r": 2`, `"r": 2, "rank_pattern": {"(": 4}`, `rank_pattern: got "(", want a regular expression`},
		{"no rank", "llama", `"r": 2`, `"r": 2, "alpha_pattern": {"q_proj": 0}`, `alpha_pattern: got 0 of "q_proj", want a number`},
		{"no scale", "llama", `"lora_alpha": 8`, `"lora_alpha": 0`, "lora_alpha: got 0, want a number above 0"},
		{"which modules the file names", "llama", `"r": 2`, `"r": 2, "layers_to_transform": [0, 1], "layers_pattern": "layers", ` +
			`"exclude_modules": "x"`, ""},
		{"rows of tokens", "llama", `"r": 2`, `"r": 2, "trainable_token_indices": [1]`, "trainable_token_indices: got [1]"},
		{"layers again", "llama", `"r": 2`, `"r": 2, "layer_replication": [[0, 2], [1, 2]]`, "layer_replication: got"},
		{"parameters", "llama", `"r": 2`, `"r": 2, "target_parameters": ["x"]`, "target_parameters: got"},
		{"from a token on", "llama", `"r": 2`, `"r": 2, "alora_invocation_tokens": [3]`, "alora_invocation_tokens: got"},
		{"another method", "llama", `"LORA"`, `"IA3"`, "peft_type: got \"IA3\", want LORA"},
		{"classes", "llama", `"CAUSAL_LM"`, `"SEQ_CLS"`, `task_type: got "SEQ_CLS", want CAUSAL_LM`},
		{"another rank", "llama", `"r": 2`, `"r": 3`, "want F32 (3, "},
		{"another model", "gpt2", "", "", "got no adapter of a map of the model"},
		{"a model with fused maps", "gpt_neox", "", "", "got no adapter of a map of the model"},
		{"a model of other widths", "qwen2", "", "", "want F32 (2, "},
	} {
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS(from)))
		changed := strings.Replace(string(text), row.old, row.new, 1)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "adapter_config.json"), []byte(changed), 0o644))
		g, err := pretrained.ReadGPT(familyFolder(t, row.model))
		require.NoError(t, err)
		if err = g.ReadAdapter(dir); row.want == "" {
			require.NoError(t, err, row.name)
			continue
		}
		require.ErrorContains(t, err, row.want, row.name)
		require.ErrorContains(t, err, dir)
	}
}

// The error about an adapter in the form of older PEFT versions says which file is expected.
func TestOldAdaptersAreRefused(t *testing.T) {
	dir := t.TempDir()
	g := tuned(t, "llama", layers.LoRAConfig{})
	_, err := g.WriteAdapter(dir, "base")
	require.NoError(t, err)
	require.NoError(t, os.Rename(filepath.Join(dir, "adapter_model.safetensors"), filepath.Join(dir, "adapter_model.bin")))
	again, err := pretrained.ReadGPT(familyFolder(t, "llama"))
	require.NoError(t, err)
	require.EqualError(t, again.ReadAdapter(dir), "pretrained: "+dir+": got adapter_model.bin, which is not read, want "+
		"adapter_model.safetensors: PEFT's save_pretrained writes it")
}

// The error about tensors that contradict the model, or one another, names them.
func TestAdaptersWithWrongTensors(t *testing.T) {
	peft, err := golden.Path("peft", "adapters")
	require.NoError(t, err)
	const model = "base_model.model."
	double := func(data []float32) {
		for i := range data {
			data[i] *= 2
		}
	}
	for _, row := range []struct {
		adapter, base, tensor string
		change                func(*safetensors.Tensor)
		want                  string
	}{
		{"embeddings", "llama", model + "model.embed_tokens.base_layer.weight",
			func(x *safetensors.Tensor) { double(x.Data.([]float32)) },
			model + "model.embed_tokens.base_layer.weight: got other numbers than the model's, want an adapter of this model"},
		{"save_embeddings_with_head", "llama_tied", model + "lm_head.weight",
			func(x *safetensors.Tensor) { double(x.Data.([]float32)) },
			model + "lm_head: got other numbers than " + model + "model.embed_tokens's, want the same with ensure_weight_tying"},
		{"llama", "llama", model + "model.layers.0.mlp.up_proj.lora_B.weight",
			func(x *safetensors.Tensor) {
				x.Name, x.Shape, x.Data = strings.Replace(x.Name, "weight", "bias", 1), []int{12}, make([]float32, 12)
			},
			"lora_bias: got a bias of the adapter of " + model + "model.layers.0.mlp.up_proj, which has none to add it to"},
		{"llama", "llama", model + "model.layers.0.mlp.up_proj.lora_B.weight",
			func(x *safetensors.Tensor) { x.Name = model + "lm_head.lora_B.weight" },
			"missing " + model + "model.layers.0.mlp.up_proj.lora_B.weight; unknown \"" + model + "lm_head.lora_B.weight\""},
	} {
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(peft, row.adapter))))
		path := filepath.Join(dir, "adapter_model.safetensors")
		f, err := safetensors.ReadFile(path)
		require.NoError(t, err)
		for i := range f.Tensors {
			if f.Tensors[i].Name == row.tensor {
				row.change(&f.Tensors[i])
			}
		}
		to, err := os.Create(path)
		require.NoError(t, err)
		require.NoError(t, safetensors.Write(to, f))
		require.NoError(t, to.Close())
		g, err := pretrained.ReadGPT(filepath.Join(peft, "..", "bases", row.base))
		require.NoError(t, err)
		require.ErrorContains(t, g.ReadAdapter(dir), row.want)
	}
}
