package pretrained_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/internal/safetensors"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// configOf returns the config.json of a case.
func configOf(t testing.TB, name string) (c fields) {
	text, err := os.ReadFile(filepath.Join(familyFolder(t, name), "config.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &c))
	return c
}

// parsed returns the error of a case after changing keys.
func parsed(t testing.TB, name string, more fields) error {
	text, err := json.Marshal(configOf(t, name).with(more))
	require.NoError(t, err)
	_, err = pretrained.Parse("dir", text)
	return err
}

// The error about a key that transformers uses and that is not supported names the key.
func TestRefusedKeys(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, row := range []struct {
		name string
		of   string
		key  string
		got  any
		want string
	}{
		{name: "both ways", of: "gemma3", key: "use_bidirectional_attention", got: true,
			want: "use_bidirectional_attention: got true, want false: attention to later positions is not supported"},
		{name: "not causal", of: "llama", key: "is_causal", got: false, want: "is_causal: got false, want true: attention"},
		{name: "a long value", of: "llama", key: "auto_map", got: []string{long}, want: `auto_map: got ["` + long[:58] + "…, "},
		{name: "quantized", of: "llama", key: "quantization_config", got: fields{"bits": 4},
			want: `quantization_config: got {"bits":4}, want none: quantized weights are not read; give the folder they ` +
				"were made from"},
		{name: "code", of: "llama", key: "auto_map", got: fields{"AutoModel": "m.M"},
			want: `auto_map: got {"AutoModel":"m.M"}, want none: code beside a model is not run`},
		{name: "a layer's own", of: "qwen3", key: "per_layer_config", got: fields{"1": fields{"head_dim": 8}},
			want: `per_layer_config: got {"1":{"head_dim":8}}, want none: layers with a config of their own`},
		{name: "GPT-NeoX's heads", of: "gpt_neox", key: "head_dim", got: 8, want: "head_dim: got 8, want none: "},
		{name: "no types of layers", of: "qwen2", key: "layer_types", got: []string{},
			want: "layer_types: got 0, want one for each of the 2 layers"},
		{name: "no layers with positions", of: "smollm3", key: "no_rope_layers", got: []int{},
			want: "no_rope_layers: got 0, want one for each of the 3 layers"},
		{name: "an activation", of: "llama", key: "hidden_act", got: "mish", want: `hidden_act: got "mish", want one known`},
		{name: "a type of layers", of: "qwen3", key: "layer_types", got: []string{"full_attention", "linear_attention"},
			want: `layer_types: got "linear_attention", want one of full_attention, sliding_attention`},
		{name: "too few layers", of: "smollm3", key: "no_rope_layers", got: []int{1},
			want: "no_rope_layers: got 1, want one for each of the 3 layers"},
		{name: "long positions", of: "llama", key: "rope_scaling", got: fields{"type": "longrope", "factor": 2},
			want: `rope_scaling.rope_type: got "longrope", want default, dynamic, linear, llama3, proportional or yarn`},
		{name: "a part of a head", of: "llama", key: "rope_scaling",
			got:  fields{"rope_type": "linear", "factor": 2, "partial_rotary_factor": 0.5},
			want: "rope_scaling.partial_rotary_factor: got 0.5, want 1: a model of llama with linear positions turns"},
		{name: "untruncated", of: "llama", key: "rope_scaling", got: fields{"type": "yarn", "factor": 2, "truncate": false},
			want: "rope_scaling.truncate: got false, want true"},
		{name: "positions of each type of layers", of: "qwen3", key: "rope_parameters",
			got:  fields{"full_attention": fields{"rope_theta": 1e6}},
			want: "rope_parameters: got one for each type of layers, want one for all: qwen3 has no others"},
		{name: "more than a head", of: "gpt_neox", key: "rotary_pct", got: 1.25,
			want: "rope_parameters.partial_rotary_factor: got 1.25, want 1: a model of gpt_neox with default positions"},
		{name: "a billion layers", of: "gemma3", key: "num_hidden_layers", got: 1000000000,
			want: "num_hidden_layers: got 1000000000, want at most 65536"},
		{name: "no width", of: "llama", key: "hidden_size", got: nil, want: "hidden_size: got 0, want at least 1"},
		{name: "heads", of: "llama", key: "num_attention_heads", got: 5,
			want: "num_attention_heads: got 5, want a divisor of hidden_size=12, or head_dim"},
		{name: "a fraction", of: "llama", key: "hidden_size", got: 12.5, want: "hidden_size: got 12.5, want a whole number"},
	} {
		err := parsed(t, row.of, fields{row.key: row.got})
		require.ErrorContains(t, err, "pretrained: dir: config.json: "+row.want, row.name)
		require.NotContains(t, err.Error(), "\n")
	}
	for _, nothing := range []any{nil, false, 0, 0.0, "", []int{}, fields{}} {
		require.NoError(t, parsed(t, "llama", fields{"auto_map": nothing, "quantization_config": nothing}))
	}
	require.NoError(t, parsed(t, "llama", fields{"is_causal": true, "use_bidirectional_attention": true}))
}

// A key that transformers' files for the family never read is ignored. It is reported unless it is known.
func TestIgnoredKeys(t *testing.T) {
	g, err := pretrained.ReadGPT(familyFolder(t, "llama"))
	require.NoError(t, err)
	want := g.Model.Config()
	known := fields{"_model_name_or_path": "x", "_flash_attn_2_enabled": true, "_from_auto": true,
		"max_sequence_length": 2048, "model_max_length": 2048, "seq_length": 2048, "unk_token_id": 1, "cls_token_id": 1,
		"unsloth_processed": true, "neuron": fields{"a": 1}, "use_bfloat16": true, "use_flash_attn": true,
		"hidden_dropout_prob": 0.1, "initializer_factor": 1.0, "tokenizer_name": "x", "license": "mit", "n_ctx": 99,
		"partial_rotary_factor": 1.0, "min_p": 0.1, "max_time": 3.0, "pad_token_id": 1,
		"attention_sink_size": nil, "x": fields{}, "rope_scaling": fields{"finetuned": true, "attn_factor": 1.0,
			"mrope_section": []int{1, 1}, "rope_type": "default"}}
	for _, row := range []struct {
		name             string
		more, generation fields
		want             []string
	}{
		{name: "known", more: known, generation: fields{"do_sample": true, "temperature": 0.6, "top_p": 0.9}},
		{name: "unknown", more: fields{"logits_scaling": 8.0, "num_local_experts": 8}, want: []string{"logits_scaling",
			"num_local_experts"}},
		{name: "of another family", more: fields{"layer_types": []string{"full_attention"}}, want: []string{"layer_types"}},
		{name: "of positions", more: fields{"rope_scaling": fields{"rope_type": "default", "own": 3}},
			want: []string{"rope_scaling.own"}},
		{name: "of generation", generation: fields{"suppress_tokens": []int{3}, "stop_strings": nil},
			want: []string{"generation_config.json: suppress_tokens"}},
	} {
		dir := write(t, configOf(t, "llama").with(row.more), tensorsIn(t, familyFolder(t, "llama")))
		if row.generation != nil {
			writeJSON(t, filepath.Join(dir, "generation_config.json"), row.generation)
		}
		g, err := pretrained.ReadGPT(dir)
		require.NoError(t, err, row.name)
		require.ElementsMatch(t, row.want, g.Ignored, row.name)
		require.Equal(t, want, g.Model.Config(), row.name)
	}
}

// The error about a folder that cannot be read is one clear line.
func TestWrongFamilyFolders(t *testing.T) {
	config, weights := configOf(t, "llama3"), tensorsIn(t, familyFolder(t, "llama3"))
	index := func(dir string, files fields) string {
		require.NoError(t, os.Remove(filepath.Join(dir, "model.safetensors")))
		writeJSON(t, filepath.Join(dir, "model.safetensors.index.json"), fields{"weight_map": files})
		return dir
	}
	with := func(dir, name string) string {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644))
		return dir
	}
	without := func(dir string) string {
		require.NoError(t, os.Remove(filepath.Join(dir, "model.safetensors")))
		return dir
	}
	narrow := append([]safetensors.Tensor{}, weights...)
	narrow[0] = safetensors.Tensor{Name: narrow[0].Name, Shape: []int{17, 9}, Data: make([]float32, 17*9)}
	for _, row := range []struct{ name, dir, want string }{
		{"a missing shard", index(write(t, config, weights), fields{"a": "model-00001-of-00002.safetensors"}),
			`model.safetensors.index.json: got the file "model-00001-of-00002.safetensors", which is missing: safetensors: open `},
		{"a path", index(write(t, config, weights), fields{"a": "../model.safetensors"}),
			`model.safetensors.index.json: got the file "../model.safetensors", want names of files beside it`},
		{"a weight that is not there", write(t, config, weights[1:]), "weights: missing model.embed_tokens.weight"},
		{"a wrong shape", write(t, config, narrow), "weights: model.embed_tokens.weight is F32 (17, 9), want F32 (17, 10)"},
		{"another weight", write(t, config, append(weights, safetensors.Tensor{Name: "model.layers.0.mlp.router.weight",
			Shape: []int{1}, Data: []float32{1}})), `weights: unknown "model.layers.0.mlp.router.weight"`},
		{"another head", write(t, config, append(weights, safetensors.Tensor{Name: "lm_head.weight",
			Shape: []int{17, 10}, Data: make([]float32, 170)})),
			"weights: lm_head.weight: got other numbers than embed_tokens.weight's"},
		{"more layers", write(t, config.with(fields{"num_hidden_layers": 60000}), weights),
			"weights: got 2 blocks, want the 60000 of config.json"},
		{"a vast vocabulary", write(t, config.with(fields{"vocab_size": 1 << 26}), weights),
			"weights: got 1924 numbers, want the 671090394"},
		{"pickled weights", with(without(write(t, config, weights)), "pytorch_model.bin"),
			"got pytorch_model.bin, which is not read, want model.safetensors: transformers' save_pretrained writes it"},
		{"SentencePiece alone", with(write(t, config, weights), "tokenizer.model"),
			"got tokenizer.model alone, which is not read, want tokenizer.json: "},
		{"a broken generation_config.json", with(write(t, config, weights), "generation_config.json"),
			"generation_config.json: not JSON"},
	} {
		_, err := pretrained.ReadGPT(row.dir)
		require.ErrorContains(t, err, row.want, row.name)
		require.True(t, strings.HasPrefix(err.Error(), "pretrained: "+row.dir+": ") ||
			strings.HasPrefix(err.Error(), "pretrained: "+row.dir+"/"), err)
		require.NotContains(t, err.Error(), "\n")
	}
}

// Gemma's embeddings are multiplied by √E, rounded to the type that the folder's weights have.
func TestGemmaScale(t *testing.T) {
	for dtype, want := range map[string]float64{"float64": 25.298221281347036, "float32": 25.29822158813476562500,
		"float16": 25.296875, "bfloat16": 25.25} {
		for _, key := range []string{"dtype", "torch_dtype"} {
			c := configOf(t, "gemma3").with(fields{"hidden_size": 640, "torch_dtype": nil, "dtype": nil})
			c[key] = dtype
			text, err := json.Marshal(c)
			require.NoError(t, err)
			f, err := pretrained.Parse("dir", text)
			require.NoError(t, err)
			require.Equal(t, want, f.Config().EmbeddingScale, dtype)
		}
	}
}

// For any config.json of any family, reading a folder returns an error, or a model no larger than its weights.
func FuzzFamilyConfig(f *testing.F) {
	for _, name := range familyCases {
		text, err := os.ReadFile(filepath.Join(familyFolder(f, name), "config.json"))
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte(`{"model_type": "smollm3", "no_rope_layers": [], "layer_types": [], "num_hidden_layers": 2,
		"vocab_size": 17, "hidden_size": 4611686018427387904, "num_attention_heads": 3, "intermediate_size": 1,
		"max_position_embeddings": 1}`))
	f.Add([]byte(`{"model_type": "smollm3", "no_rope_layers": [], "layer_types": [], "num_hidden_layers": 2, "hidden_size": 12,
		"num_attention_heads": 3, "vocab_size": 17, "intermediate_size": 8, "max_position_embeddings": 16}`))
	for _, key := range []string{"layer_types", "no_rope_layers", "architectures", "eos_token_id", "bos_token_id",
		"rope_scaling", "rope_parameters", "id2label", "vocabulary"} {
		for _, name := range familyCases {
			text, err := json.Marshal(configOf(f, name).with(fields{key: []int{}}))
			require.NoError(f, err)
			f.Add(text)
		}
	}
	f.Add([]byte(`{"model_type": "gemma3_text", "rope_parameters": {"full_attention": 3}, "sliding_window_pattern": -1}`))
	dir := write(f, configOf(f, "llama"), tensorsIn(f, familyFolder(f, "llama")))
	g, err := pretrained.ReadGPT(dir)
	require.NoError(f, err)
	count := g.Params.Count()
	f.Fuzz(func(t *testing.T, text []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), text, 0o644))
		g, err := pretrained.ReadGPT(dir)
		if err != nil {
			require.Less(t, len(err.Error()), 3000)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.Equal(t, count, g.Params.Count())
	})
}
